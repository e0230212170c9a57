/** @jsxImportSource preact */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ChatRecord, filesOf, type MessageRecord } from '../store/records.ts';
import { type Hits, type SearchFilters, search as searchMessages } from '../store/search.ts';
import { text } from '../text/text.ts';
import { chatName, useSession } from './context.ts';
import { EmptyState } from './empty-state.tsx';
import { Icon } from './icon.tsx';
import { plainText } from './markdown.ts';
import { excerptOf } from './marks.ts';
import { More } from './more.tsx';
import { Problem, useLoading } from './problem.tsx';
import { chatPath, navigate, type SearchRoute, searchPath } from './route.ts';
import { fullTime, shortTime, startOf } from './time.ts';
import './pane.css';
import './search-view.css';

/** Messages that contain every word of the query. */
export function SearchView({ search }: { search: SearchRoute }) {
  const { client, store } = useSession();
  const [wanted, setWanted] = useState(search);
  const [filters, setFilters] = useState<SearchFilters | undefined>(undefined);
  const [found, setFound] = useState<Hits | undefined>(undefined);
  /** A name that nobody has. */
  const [nobody, setNobody] = useState('');
  const chat = search.chatId === undefined ? undefined : store.chat(search.chatId);
  const key = searchPath(search);
  const current = useRef(key);
  current.current = key;
  // Another search replaces what is in the form. What is typed before it starts stays.
  const filledFor = useRef(key);
  useEffect(() => {
    if (filledFor.current === key) return;
    filledFor.current = key;
    setWanted(search);
  }, [key]);
  const load = useCallback(async () => {
    const isCurrent = () => current.current === key;
    setFound(undefined);
    setNobody('');
    if (search.query.trim() === '') return;
    const userId = search.from === '' ? undefined : await findUser(search.from);
    if (!isCurrent()) return;
    if (userId === null) return setNobody(search.from);
    const { query, chatId, hasFile, before } = search;
    const next = { query, chatId, userId, hasFile, before: startOf(before) };
    const hits = await searchMessages(client, next);
    if (!isCurrent()) return;
    setFilters(next);
    setFound(hits);
  }, [key]);
  const loading = useLoading(text.search.failed, load);
  const findUser = async (name: string): Promise<number | null> => {
    const isNamed = (user: { name: string; display_name: string }) =>
      [user.name, user.display_name].some((own) => own.toLowerCase() === name.replace(/^@/, '').toLowerCase());
    const known = [...store.users.value.values()].find(isNamed);
    if (known) return known.user_id;
    const { users } = await client.users.search({ query: name.replace(/^@/, ''), limit: 20 });
    // A part of a name will do if nobody else has it.
    const found = users.find(isNamed) ?? (users.length === 1 ? users[0] : undefined);
    return found?.user_id ?? null;
  };
  const more = async () => {
    if (!filters || !found) return;
    const next = await searchMessages(client, filters, found.next);
    setFound({ messages: [...found.messages, ...next.messages], next: next.next });
  };
  return (
    <section class="pane" aria-label={text.search.label}>
      <header>
        <a class="icon-button back" href="/" aria-label={text.common.allChats}>
          <Icon name="back" />
        </a>
        <h1>{chat ? text.search.titleIn(<bdi>{chatName(chat)}</bdi>) : text.search.title}</h1>
      </header>
      <SearchForm wanted={wanted} onChange={setWanted} />
      <Problem words={nobody === '' ? '' : text.search.nobody(nobody)} />
      <Problem words={loading.problem} onRetry={loading.again} />
      {search.query.trim() === '' && (
        <EmptyState icon="search" title={text.search.start}>
          {text.search.startHint}
        </EmptyState>
      )}
      {found?.messages.length === 0 && <NoHits search={search} hasMore={found.next !== undefined} />}
      <ul class="cards">
        {found?.messages.map((message) => (
          <li key={message.message_id}>
            <Result message={message} query={search.query} />
          </li>
        ))}
      </ul>
      {found?.next !== undefined && (
        <More key={found.next} failed={text.search.moreFailed} onMore={more} isEager={false} />
      )}
    </section>
  );
}

function NoHits({ search, hasMore }: { search: SearchRoute; hasMore: boolean }) {
  const isFiltered = search.from !== '' || search.hasFile || search.before !== '';
  const widen = (part: Partial<SearchRoute>) => () => navigate(searchPath({ ...search, ...part }));
  return (
    <EmptyState
      icon="search"
      title={hasMore ? text.search.noneOfNewest : text.search.none}
      actions={
        <>
          {isFiltered && (
            <button type="button" class="button" onClick={widen({ from: '', hasFile: false, before: '' })}>
              {text.search.removeFilters}
            </button>
          )}
          {search.chatId !== undefined && (
            <button type="button" class="button quiet" onClick={widen({ chatId: undefined })}>
              {text.search.everywhere}
            </button>
          )}
        </>
      }
    >
      {isFiltered ? text.search.filteredHint : text.search.noneHint}
    </EmptyState>
  );
}

interface FormProps {
  readonly wanted: SearchRoute;
  readonly onChange: (wanted: SearchRoute) => void;
}

function SearchForm({ wanted, onChange }: FormProps) {
  const { store } = useSession();
  const set = (part: Partial<SearchRoute>) => onChange({ ...wanted, ...part });
  // A filter counts at once, words count with Enter.
  const apply = (part: Partial<SearchRoute>) => {
    set(part);
    navigate(searchPath({ ...wanted, ...part }));
  };
  return (
    <form
      class="search-form"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(searchPath(wanted));
      }}
    >
      <div class="field words">
        <input
          type="search"
          aria-label={text.search.title}
          placeholder={text.search.words}
          value={wanted.query}
          autofocus
          onInput={(event) => set({ query: event.currentTarget.value })}
        />
        {/* Without it, Enter does nothing: the form has several fields. */}
        <button type="submit" class="button">
          {text.search.search}
        </button>
      </div>
      <div class="filters">
        <label>
          <span>{text.search.chat}</span>
          <select
            value={wanted.chatId ?? ''}
            onChange={(event) => apply({ chatId: Number(event.currentTarget.value) || undefined })}
          >
            <option value="">{text.common.allChats}</option>
            <ChatOptions chats={store.byActivity.value} />
            {store.archived.value.length > 0 && (
              <optgroup label={text.chatList.archived}>
                <ChatOptions chats={store.archived.value} />
              </optgroup>
            )}
          </select>
        </label>
        <label>
          <span>{text.search.from}</span>
          <input
            type="text"
            list="search-people"
            placeholder={text.search.anybody}
            value={wanted.from}
            onInput={(event) => set({ from: event.currentTarget.value })}
            onChange={(event) => apply({ from: event.currentTarget.value.trim() })}
          />
        </label>
        <datalist id="search-people">
          {[...store.users.value.values()].map(({ user_id, name, display_name }) => (
            <option key={user_id} value={name}>
              {display_name}
            </option>
          ))}
        </datalist>
        <label>
          <span>{text.search.before}</span>
          <input type="date" value={wanted.before} onChange={(event) => apply({ before: event.currentTarget.value })} />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={wanted.hasFile}
            onChange={(event) => apply({ hasFile: event.currentTarget.checked })}
          />
          <span>{text.search.hasFile}</span>
        </label>
      </div>
    </form>
  );
}

const ChatOptions = ({ chats }: { chats: readonly ChatRecord[] }) => (
  <>
    {chats.map((chat) => (
      <option key={chat.chat_id} value={chat.chat_id}>
        {chatName(chat)}
      </option>
    ))}
  </>
);

function Result({ message, query }: { message: MessageRecord; query: string }) {
  const { store } = useSession();
  const chat = store.chat(message.chat_id);
  const files = filesOf(message);
  return (
    <a class="result" href={chatPath(message.chat_id, message.message_id)}>
      <span class="where">
        <bdi>{store.user(message.user_id)?.display_name ?? '…'}</bdi>
        {chat && <span>{text.common.inChat(chatName(chat))}</span>}
        <time dateTime={message.created_at} title={fullTime(message.created_at)}>
          {shortTime(message.created_at)}
        </time>
      </span>
      <p dir="auto">
        {excerptOf(plainText(message.content), query).map(({ text: part, isHit }) =>
          isHit ? <mark>{part}</mark> : part,
        )}
      </p>
      {files.length > 0 && (
        <span class="files">
          <Icon name="attach" />
          <bdi>{files.map(({ name }) => name).join(', ')}</bdi>
        </span>
      )}
    </a>
  );
}
