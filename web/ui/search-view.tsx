/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks';
import type { MessageRecord } from '../store/records.ts';
import { chatName, useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { chatPath, navigate } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import './pane.css';

const excerptLength = 240;

interface Found {
  readonly messages: readonly MessageRecord[];
  readonly has_more: boolean;
}

/** Messages that contain every word of the query. */
export function SearchView({ query, chatId }: { query: string; chatId: number | undefined }) {
  const { client, store, report } = useSession();
  const [text, setText] = useState(query);
  const [found, setFound] = useState<Found | undefined>(undefined);
  const chat = chatId === undefined ? undefined : store.chat(chatId);
  const search = (before?: MessageRecord) =>
    client.messages.search({
      query,
      limit: 30,
      ...(chatId !== undefined && { chat_id: chatId }),
      ...(before && { before_id: before.message_id }),
    });
  useEffect(() => {
    let isCurrent = true;
    setText(query);
    setFound(undefined);
    if (query.trim() !== '') search().then((page) => isCurrent && setFound(page), report);
    return () => {
      isCurrent = false;
    };
  }, [query, chatId]);
  const more = async () => {
    const next = await search(found?.messages.at(-1));
    setFound({ messages: [...(found?.messages ?? []), ...next.messages], has_more: next.has_more });
  };
  const submit = () => {
    const parameters = new URLSearchParams({ q: text, ...(chatId !== undefined && { chat: String(chatId) }) });
    navigate(`/search?${parameters}`);
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
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <input
          type="search"
          aria-label="Search messages"
          placeholder="Words that the message contains"
          value={text}
          autofocus
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </form>
      {found?.messages.length === 0 && <p class="muted">No message contains all of these words.</p>}
      <ul class="cards">
        {found?.messages.map((message) => (
          <li key={message.message_id}>
            <Result message={message} query={query} />
          </li>
        ))}
      </ul>
      {found?.has_more && (
        <button type="button" class="button quiet" onClick={() => void more().catch(report)}>
          Show more
        </button>
      )}
    </section>
  );
}

function Result({ message, query }: { message: MessageRecord; query: string }) {
  const { store } = useSession();
  const chat = store.chat(message.chat_id);
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
        <Marked text={message.content.slice(0, excerptLength)} query={query} />
      </p>
    </a>
  );
}

/** A text with the words of the query marked. */
function Marked({ text, query }: { text: string; query: string }) {
  const words = query.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'giu');
  // Every second part is one of the words.
  return <>{text.split(pattern).map((part, i) => (i % 2 ? <mark>{part}</mark> : part))}</>;
}
