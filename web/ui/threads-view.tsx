/** @jsxImportSource preact */
import type { Thread } from '@parley-chat/sdk/operations.ts';
import { useEffect } from 'preact/hooks';
import { chatName, useSession, useUserName } from './context.ts';
import { Icon } from './icon.tsx';
import { plainText } from './markdown.ts';
import { route, threadPath } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import './pane.css';
import './threads-view.css';

const excerptLength = 240;

/** The link to the threads of the user, with the number of those that have unread replies. */
export function ThreadsLink() {
  const { store } = useSession();
  const unread = store.unreadThreads.value;
  const label = unread === 0 ? 'Threads' : `Threads, ${unread} unread`;
  return (
    <a
      class="icon-button threads-link"
      href="/threads"
      aria-label={label}
      title={label}
      aria-current={route.value.name === 'threads' ? 'page' : undefined}
    >
      <Icon name="thread" />
      {unread > 0 && <span class="badge">{unread > 9 ? '9+' : unread}</span>}
    </a>
  );
}

/** The threads in which the user has written, the one with the newest reply first. */
export function ThreadsView() {
  const { store, loader, report } = useSession();
  useEffect(() => void loader.loadThreads().catch(report), [loader, report]);
  const threads = store.myThreads.value;
  return (
    <section class="pane" aria-label="Threads">
      <header>
        <a class="icon-button back" href="/" aria-label="All chats">
          <Icon name="back" />
        </a>
        <h1>Threads</h1>
      </header>
      {threads?.length === 0 && (
        <p class="muted">No threads yet. Reply to a message in a thread, and you find it here.</p>
      )}
      <ul class="cards" aria-label="Your threads">
        {threads?.map((thread) => (
          <li key={thread.message.message_id}>
            <ThreadCard thread={thread} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ThreadCard({ thread }: { thread: Thread }) {
  const { store } = useSession();
  const { message, reply_count, last_reply_at, unread_count } = thread;
  const name = useUserName(message.user_id);
  const chat = store.chat(message.chat_id);
  const text = plainText(message.content.slice(0, excerptLength));
  return (
    <a class="result" href={threadPath(message.chat_id, message.message_id)}>
      <span class="where">
        <bdi>{name}</bdi>
        {chat && (
          <span>
            in <bdi>{chatName(chat)}</bdi>
          </span>
        )}
        <time dateTime={last_reply_at} title={fullTime(last_reply_at)}>
          {shortTime(last_reply_at)}
        </time>
      </span>
      <p dir="auto">{message.deleted_at === null ? text || message.file?.name : 'This message was deleted.'}</p>
      <span class="where">
        {reply_count === 1 ? '1 reply' : `${reply_count} replies`}
        {unread_count > 0 && <strong class="new">{unread_count} new</strong>}
      </span>
    </a>
  );
}
