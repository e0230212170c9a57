/** @jsxImportSource preact */
import type { MessageRecord } from '../store/records.ts';
import { useSession } from './context.ts';
import { Popover } from './popover.tsx';
import './reactions.css';

const offered = [
  ...['👍', '❤️', '😂', '🎉', '👀', '🙏', '🔥', '✅', '👏', '💯', '😊', '😍', '🤔', '😮', '😢', '😡'],
  ...['👋', '🚀', '🐛', '☕', '🍕', '🌱', '💡', '❌'],
];

/** Adds a reaction of the user, or takes it back. */
export function useReact(): (message: MessageRecord, emoji: string) => void {
  const { client, store, report } = useSession();
  return ({ message_id, reactions }, emoji) => {
    const isMine = reactions.some((reaction) => reaction.emoji === emoji && reaction.reacted);
    const call = isMine ? client.messages.removeReaction : client.messages.addReaction;
    call({ message_id, emoji }).then(({ message }) => store.putMessage(message), report);
  };
}

export function Reactions({ message }: { message: MessageRecord }) {
  const react = useReact();
  return (
    <ul class="reactions" aria-label="Reactions">
      {message.reactions.map(({ emoji, count, reacted }) => (
        <li key={emoji}>
          <button
            type="button"
            aria-pressed={reacted}
            aria-label={`${emoji} ${count}`}
            onClick={() => react(message, emoji)}
          >
            <span aria-hidden="true">{emoji}</span>
            <span aria-hidden="true">{count}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface PickerProps {
  readonly message: MessageRecord;
  readonly anchor: Element;
  readonly onClose: () => void;
}

export function ReactionPicker({ message, anchor, onClose }: PickerProps) {
  const react = useReact();
  return (
    <Popover label="Add a reaction" anchor={anchor} onClose={onClose}>
      <div class="picker">
        {offered.map((emoji) => (
          <button
            key={emoji}
            type="button"
            aria-label={emoji}
            onClick={() => {
              react(message, emoji);
              onClose();
            }}
          >
            {emoji}
          </button>
        ))}
      </div>
    </Popover>
  );
}
