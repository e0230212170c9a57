/** @jsxImportSource preact */
import { copyText } from '../lib/copy-text.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { EmptyState } from './empty-state.tsx';
import { tell } from './notice.tsx';

/** Why a chat is not shown: it is not for this user, was left, or the server must be asked and is away. */
export type Absence = 'missing' | 'removed' | 'away';

const absences = {
  missing: { title: text.chat.missing, hint: text.chat.missingHint },
  removed: { title: text.chat.removed, hint: text.chat.removedHint },
  away: { title: text.chat.away, hint: text.chat.awayHint },
} as const satisfies Readonly<Record<Absence, object>>;

/** In the place of a chat that is not shown. */
export function Absent({ chatId, absence }: { chatId: number; absence: Absence }) {
  const { title, hint } = absences[absence];
  return (
    <>
      <EmptyState
        icon="thread"
        level={1}
        title={title}
        actions={
          <>
            <a class="button" href="/">
              {text.common.goToChats}
            </a>
            {absence !== 'away' && (
              <a class="button quiet" href="/browse">
                {text.common.findChannels}
              </a>
            )}
          </>
        }
      >
        {hint}
      </EmptyState>
      {absence !== 'away' && <LeftUnsent chatId={chatId} />}
    </>
  );
}

/** The texts that the user wrote in a chat that is gone. */
function LeftUnsent({ chatId }: { chatId: number }) {
  const { outbox, drafts, report } = useSession();
  const left = [
    ...outbox.items.value
      .filter(({ chat_id }) => chat_id === chatId)
      .map(({ key, seq, content, files = [] }) => {
        const names = files.map(({ name }) => name).join(', ');
        return { key, content, names, discard: () => void outbox.discard(seq).catch(report) };
      }),
    ...drafts.inChat(chatId).map(([key, draft]) => {
      return { key, content: draft.text, names: '', discard: () => drafts.discard(key) };
    }),
  ];
  if (left.length === 0) return null;
  return (
    <div class="left-unsent">
      <h2>{text.chat.unsent}</h2>
      <ul>
        {left.map(({ key, content, names, discard }) => (
          <li key={key}>
            <p class="said" dir="auto">
              {content || names}
            </p>
            {content !== '' && (
              <button
                type="button"
                class="button quiet"
                onClick={() => tell(copyText(content) ? text.chat.copied : content)}
              >
                {text.chat.copyUnsent}
              </button>
            )}
            <button type="button" class="button quiet" onClick={discard}>
              {text.message.discard}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** In the place of messages that could not be loaded. */
export function NotLoaded({ onRetry }: { onRetry: () => void }) {
  return (
    <EmptyState
      icon="thread"
      title={text.chat.away}
      actions={
        <button type="button" class="button" onClick={onRetry}>
          {text.common.tryAgain}
        </button>
      }
    >
      {text.chat.awayHint}
    </EmptyState>
  );
}
