/** @jsxImportSource preact */
import type { Thread } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect } from 'preact/hooks';
import { text } from '../text/text.ts';
import { chatName, useSession, useUserName } from './context.ts';
import { openDialog } from './dialogs.ts';
import { EmptyState } from './empty-state.tsx';
import { Icon } from './icon.tsx';
import { plainText } from './markdown.ts';
import { More } from './more.tsx';
import { Problem, useLoading } from './problem.tsx';
import { threadPath } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import './pane.css';
import './threads-view.css';

const excerptLength = 240;

/** The threads in which the user has written, the one with the newest reply first. */
export function ThreadsView() {
  const { store, loader } = useSession();
  const load = useCallback(() => loader.loadThreads(), [loader]);
  const loading = useLoading(text.threads.failed, load);
  useEffect(() => () => loader.dropOlderThreads(), [loader]);
  const list = store.myThreads.value;
  return (
    <section class="pane" aria-label={text.threads.title}>
      <header>
        <a class="icon-button back" href="/" aria-label={text.common.allChats}>
          <Icon name="back" />
        </a>
        <h1>{text.threads.title}</h1>
      </header>
      <Problem words={loading.problem} onRetry={loading.again} />
      {list?.threads.length === 0 && (
        <EmptyState
          icon="thread"
          title={text.threads.none}
          actions={
            <button
              type="button"
              class="button"
              onClick={() => {
                openDialog.value = { name: 'switcher' };
              }}
            >
              {text.common.goToChat}
            </button>
          }
        >
          {text.threads.noneHint}
        </EmptyState>
      )}
      <ul class="cards" aria-label={text.threads.list}>
        {list?.threads.map((thread) => (
          <li key={thread.message.message_id}>
            <ThreadCard thread={thread} />
          </li>
        ))}
      </ul>
      {list?.hasMore && (
        <More key={list.threads.length} failed={text.threads.moreFailed} onMore={() => loader.loadOlderThreads()} />
      )}
    </section>
  );
}

function ThreadCard({ thread }: { thread: Thread }) {
  const { store } = useSession();
  const { message, reply_count, last_reply_at, unread_count } = thread;
  const name = useUserName(message.user_id);
  const chat = store.chat(message.chat_id);
  const excerpt = plainText(message.content.slice(0, excerptLength));
  return (
    <a class="result" href={threadPath(message.chat_id, message.message_id)}>
      <span class="where">
        <bdi>{name}</bdi>
        {chat && <span>{text.common.inChat(<bdi>{chatName(chat)}</bdi>)}</span>}
        <time dateTime={last_reply_at} title={fullTime(last_reply_at)}>
          {shortTime(last_reply_at)}
        </time>
      </span>
      <p dir="auto">{message.deleted_at === null ? excerpt || message.file?.name : text.common.messageWasDeleted}</p>
      <span class="where">
        {text.common.replies(reply_count)}
        {unread_count > 0 && <strong class="new">{text.threads.new(unread_count)}</strong>}
      </span>
    </a>
  );
}
