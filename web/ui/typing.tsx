/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import './typing.css';

/** Says who is typing. */
export function TypingText({ chat, isShort }: { chat: ChatHead; isShort?: boolean }) {
  const { store } = useSession();
  const names = (store.typing.value.get(chat.chat_id) ?? []).map((id) => store.user(id)?.display_name ?? '…');
  const [first, second, ...others] = names;
  if (first === undefined) return null;
  if (isShort && chat.type === 'direct') return <em>{text.typing.typing}</em>;
  return <em>{sentence(first, second, others.length)}</em>;
}

function sentence(first: string, second: string | undefined, others: number): ComponentChildren {
  const name = <bdi>{first}</bdi>;
  if (second === undefined) return text.typing.one(name);
  if (others === 0) return text.typing.two({ first: name, second: <bdi>{second}</bdi> });
  return text.typing.many({ first: name, others: others + 1 });
}

/** The line above the composer. It keeps its place, so that nothing moves. */
export function TypingLine({ chat }: { chat: ChatHead }) {
  return (
    <p class="typing" role="status" aria-label={text.typing.label}>
      <TypingText chat={chat} />
    </p>
  );
}
