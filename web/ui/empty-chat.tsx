/** @jsxImportSource preact */
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import { ChatAvatar } from './chat-list.tsx';
import type { ChatState } from './chat-state.ts';
import { chatName, mayManage, maySend } from './context.ts';
import { openDialog } from './dialogs.ts';
import './empty-chat.css';

/** What to do in a chat without messages. */
export function EmptyChat({ chat, state }: { chat: ChatHead; state: ChatState }) {
  const isAlone = chat.type !== 'direct' && chat.participant_count === 1;
  const hint = !maySend(chat)
    ? text.emptyChat.nothingPosted
    : chat.type === 'direct'
      ? text.emptyChat.direct
      : isAlone
        ? text.emptyChat.alone
        : text.emptyChat.first;
  return (
    <div class="empty-chat">
      <ChatAvatar chat={chat} />
      <h2>
        <bdi>{chatName(chat)}</bdi>
      </h2>
      <p>{hint}</p>
      <div class="buttons">
        {maySend(chat) && (
          <button type="button" class={isAlone ? 'button quiet' : 'button'} onClick={() => state.focusComposer.value++}>
            {text.emptyChat.write}
          </button>
        )}
        {mayManage(chat) && (
          <button
            type="button"
            class={isAlone ? 'button' : 'button quiet'}
            onClick={() => {
              openDialog.value = { name: 'people', chatId: chat.chat_id };
            }}
          >
            {text.emptyChat.addPeople}
          </button>
        )}
        {!maySend(chat) && (
          <a class="button quiet" href="/browse">
            {text.common.browseChannels}
          </a>
        )}
      </div>
    </div>
  );
}
