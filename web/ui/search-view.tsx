/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks';
import { filesOf, type MessageRecord } from '../store/records.ts';
import { type Hits, type SearchFilters, search as searchMessages } from '../store/search.ts';
import { chatName, useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { excerptOf } from './marks.ts';
import { chatPath, navigate, type SearchRoute, searchPath } from './route.ts';
import { fullTime, shortTime, startOf } from './time.ts';
import './pane.css';
import './search-view.css';

/** Messages that contain every word of the query. */
export function SearchView({ search }: { search: SearchRoute }) {
  const { client, store, report } = useSession();
  const [wanted, setWanted] = useState(search);
  const [filters, setFilters] = useState<SearchFilters | undefined>(undefined);
  const [found, setFound] = useState<Hits | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const chat = search.chatId === undefined ? undefined : store.chat(search.chatId);
  const key = searchPath(search);
  useEffect(() => {
    let isCurrent = true;
    setWanted(search);
    setFound(undefined);
    setProblem('');
    const start = async () => {
      const userId = search.from === '' ? undefined : await findUser(search.from);
      if (!isCurrent) return;
      if (userId === null) return setProblem(`There is nobody called ${search.from}.`);
      const { query, chatId, hasFile, before } = search;
      const next = { query, chatId, userId, hasFile, before: startOf(before) };
      const hits = await searchMessages(client, next);
      if (!isCurrent) return;
      setFilters(next);
      setFound(hits);
    };
    if (search.query.trim() !== '') start().catch((error: Error) => isCurrent && setProblem(error.message));
    return () => {
      isCurrent = false;
    };
  }, [key]);
  const findUser = async (name: string): Promise<number | null> => {
    const isNamed = (user: { name: string; display_name: string }) =>
      [user.name, user.display_name].some((own) => own.toLowerCase() === name.replace(/^@/, '').toLowerCase());
    const known = [...store.users.value.values()].find(isNamed);
    if (known) return known.user_id;
    const { users } = await client.users.search({ query: name.replace(/^@/, ''), limit: 20 });
    return (users.find(isNamed) ?? users[0])?.user_id ?? null;
  };
  const more = async () => {
    if (!filters || !found) return;
    const next = await searchMessages(client, filters, found.next);
    setFound({ messages: [...found.messages, ...next.messages], next: next.next });
  };
  return (
    <section class="pane" aria-label="Search results">
      <header>
        <a class="icon-button back" href="/" aria-label="All chats">
          <Icon name="back" />
        </a>
        <h1>
          {chat ? (
            <>
              Search in <bdi>{chatName(chat)}</bdi>
            </>
          ) : (
            'Search messages'
          )}
        </h1>
      </header>
      <SearchForm wanted={wanted} onChange={setWanted} />
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {found?.messages.length === 0 && (
        <p class="muted">
          {found.next === undefined ? 'No message matches.' : 'None of the newest messages with these words matches.'}
        </p>
      )}
      <ul class="cards">
        {found?.messages.map((message) => (
          <li key={message.message_id}>
            <Result message={message} query={search.query} />
          </li>
        ))}
      </ul>
      {found?.next !== undefined && (
        <button type="button" class="button quiet" onClick={() => void more().catch(report)}>
          Show more
        </button>
      )}
    </section>
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
      <div class="field">
        <input
          type="search"
          aria-label="Search messages"
          placeholder="Words that the message contains"
          value={wanted.query}
          autofocus
          onInput={(event) => set({ query: event.currentTarget.value })}
        />
      </div>
      <div class="filters">
        <label>
          <span>In</span>
          <select
            value={wanted.chatId ?? ''}
            onChange={(event) => apply({ chatId: Number(event.currentTarget.value) || undefined })}
          >
            <option value="">All chats</option>
            {store.byActivity.value.map((chat) => (
              <option key={chat.chat_id} value={chat.chat_id}>
                {chatName(chat)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>From</span>
          <input
            type="text"
            list="search-people"
            placeholder="Anybody"
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
          <span>Before</span>
          <input type="date" value={wanted.before} onChange={(event) => apply({ before: event.currentTarget.value })} />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={wanted.hasFile}
            onChange={(event) => apply({ hasFile: event.currentTarget.checked })}
          />
          <span>Has a file</span>
        </label>
      </div>
    </form>
  );
}

function Result({ message, query }: { message: MessageRecord; query: string }) {
  const { store } = useSession();
  const chat = store.chat(message.chat_id);
  const files = filesOf(message);
  return (
    <a class="result" href={chatPath(message.chat_id, message.message_id)}>
      <span class="where">
        <bdi>{store.user(message.user_id)?.display_name ?? '…'}</bdi>
        {chat && <span>in {chatName(chat)}</span>}
        <time dateTime={message.created_at} title={fullTime(message.created_at)}>
          {shortTime(message.created_at)}
        </time>
      </span>
      <p dir="auto">
        {excerptOf(message.content, query).map(({ text, isHit }) => (isHit ? <mark>{text}</mark> : text))}
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
