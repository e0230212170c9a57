/** @jsxImportSource preact */
import type { ChatRecord } from '../store/records.ts';
import { useSession } from './context.ts';
import './typing.css';

/** Says who is typing. */
export function TypingText({ chat, isShort }: { chat: ChatRecord; isShort?: boolean }) {
  const { store } = useSession();
  const names = (store.typing.value.get(chat.chat_id) ?? []).map((id) => store.user(id)?.display_name ?? '…');
  const [first, second, ...others] = names;
  if (first === undefined) return null;
  if (isShort && chat.type === 'direct') return <em>typing…</em>;
  return (
    <em>
      <bdi>{first}</bdi>
      {second !== undefined && others.length === 0 && (
        <>
          {' '}
          and <bdi>{second}</bdi>
        </>
      )}
      {others.length > 0 && ` and ${others.length + 1} others`} {second === undefined ? 'is' : 'are'} typing…
    </em>
  );
}

/** The line above the composer. It keeps its place, so that nothing moves. */
export function TypingLine({ chat }: { chat: ChatRecord }) {
  return (
    <p class="typing" role="status" aria-label="Typing">
      <TypingText chat={chat} />
    </p>
  );
}
