/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatRecord, MessageRecord } from '../store/records.ts';
import { mayPin, useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { plainText } from './markdown.ts';
import { Popover } from './popover.tsx';
import { chatPath } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import './pins.css';

const excerptLength = 200;

/** The button with the number of pinned messages. It shows them. */
export function Pins({ chat }: { chat: ChatRecord }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const count = chat.pins.length;
  if (count === 0) return null;
  const label = `Pinned messages, ${count}`;
  const close = () => setOpen(false);
  return (
    <>
      <button
        type="button"
        ref={button}
        class="icon-button pins-button"
        aria-label={label}
        title="Pinned messages"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="pin" />
        <span aria-hidden="true">{count}</span>
      </button>
      {isOpen && button.current && (
        <Popover label="Pinned messages" anchor={button.current} onClose={close}>
          <PinList chat={chat} onClose={close} />
        </Popover>
      )}
    </>
  );
}

function PinList({ chat, onClose }: { chat: ChatRecord; onClose: () => void }) {
  const { client, store, report } = useSession();
  const [messages, setMessages] = useState<readonly MessageRecord[]>([]);
  const { chat_id, pins } = chat;
  const key = pins.join(' ');
  useEffect(() => {
    let isCurrent = true;
    client.messages.pins({ chat_id }).then((found) => isCurrent && setMessages(found.messages), report);
    return () => {
      isCurrent = false;
    };
  }, [key, chat_id, client, report]);
  const unpin = ({ message_id }: MessageRecord) =>
    client.messages
      .unpin({ message_id })
      .then((sent) => store.changeChat(chat_id, () => ({ pins: sent.chat.pins })), report);
  return (
    <ul class="pins" aria-label="Pinned messages">
      {messages
        .filter(({ message_id }) => pins.includes(message_id))
        .map((message) => (
          <li key={message.message_id}>
            <a href={chatPath(chat_id, message.message_id)} onClick={onClose}>
              <span class="where">
                <bdi>{store.user(message.user_id)?.display_name ?? '…'}</bdi>
                <time dateTime={message.created_at} title={fullTime(message.created_at)}>
                  {shortTime(message.created_at)}
                </time>
              </span>
              <span class="text" dir="auto">
                {plainText(message.content.slice(0, excerptLength)) || message.file?.name}
              </span>
            </a>
            {mayPin(chat) && <IconButton icon="unpin" label="Unpin" onClick={() => void unpin(message)} />}
          </li>
        ))}
    </ul>
  );
}
