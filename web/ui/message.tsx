/** @jsxImportSource preact */
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Unsent } from '../outbox/outbox.ts';
import { type ChatRecord, filesOf, type MessageRecord } from '../store/records.ts';
import { AttachedFiles, Attachments } from './attachments.tsx';
import { Avatar } from './avatar.tsx';
import type { ChatState } from './chat-state.ts';
import { colourCode } from './code.ts';
import { mayManage, mayPin, maySend, useSession, useUserName } from './context.ts';
import { EditForm } from './edit-form.tsx';
import { Icon, IconButton } from './icon.tsx';
import { isEmoji, renderMarkdown } from './markdown.ts';
import { ReactionPicker, Reactions } from './reactions.tsx';
import { chatPath, navigate, threadPath } from './route.ts';
import { fullTime, shortTime, timeOfDay } from './time.ts';
import './message.css';

interface MessageProps {
  readonly message: MessageRecord;
  readonly isContinued: boolean;
  readonly state: ChatState;
}

/** One message. Its actions appear while the pointer or the focus is on it. */
export const MessageRow = memo(function MessageRow({ message, isContinued, state }: MessageProps) {
  const { message_id, user_id, created_at, edited_at, deleted_at, reply_to, reactions } = message;
  const isEditing = state.editing.value === message_id;
  const isActive = state.active.value === message_id;
  const isTarget = state.target.value === message_id;
  const { store } = useSession();
  const isMentioned = store.isMentioned(message);
  const isPinned = store.chat(message.chat_id)?.pins.includes(message_id) ?? false;
  const activate = () => {
    state.active.value = message_id;
  };
  // A finger has no place to rest: a tap shows the actions.
  const hover = ({ pointerType }: PointerEvent) => {
    if (pointerType === 'mouse') activate();
  };
  return (
    // The list moves the focus with j and k.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focus shows the actions too
    <article
      class={`message${isContinued ? ' continued' : ''}${isTarget ? ' target' : ''}${isMentioned ? ' to-me' : ''}`}
      tabIndex={-1}
      data-message={message_id}
      onPointerEnter={hover}
      onClick={activate}
      onFocusIn={activate}
    >
      {reply_to !== null && reply_to !== state.threadId && <Quote messageId={reply_to} state={state} />}
      <Head userId={user_id} at={created_at} isContinued={isContinued} link={chatPath(message.chat_id, message_id)} />
      {isEditing ? (
        <EditForm message={message} state={state} />
      ) : deleted_at !== null ? (
        <p class="gone">This message was deleted.</p>
      ) : (
        <Content text={message.content} isEdited={edited_at !== null} message={message} />
      )}
      <Attachments files={filesOf(message)} state={state} />
      {reactions.length > 0 && <Reactions message={message} />}
      {isPinned && (
        <p class="pinned">
          <Icon name="pin" /> Pinned
        </p>
      )}
      {message.reply_count !== undefined && state.threadId === undefined && <ThreadLink message={message} />}
      {isActive && !isEditing && deleted_at === null && <Actions message={message} state={state} />}
    </article>
  );
});

function Head({ userId, at, isContinued, link }: { userId: number; at: string; isContinued: boolean; link?: string }) {
  const name = useUserName(userId);
  const time = (
    <time dateTime={at} title={fullTime(at)}>
      {timeOfDay(at, isContinued)}
    </time>
  );
  const clock = link === undefined ? time : <a href={link}>{time}</a>;
  if (isContinued) {
    return (
      <div class="aside">
        <span class="unseen">{name}</span>
        {clock}
      </div>
    );
  }
  return (
    <>
      <div class="aside">
        <Avatar id={userId} name={name} />
      </div>
      <header>
        <bdi class="author">{name}</bdi> {clock}
      </header>
    </>
  );
}

function Content({ text, isEdited, message }: { text: string; isEdited: boolean; message?: MessageRecord }) {
  const { store } = useSession();
  const place = useRef<HTMLDivElement>(null);
  const names = (message?.mentions ?? []).flatMap((id) => store.user(id)?.name ?? []);
  if (message?.mentions_all) names.push('all');
  const html = renderMarkdown(text, { names, me: store.me.name });
  useLayoutEffect(() => {
    if (place.current) colourCode(place.current);
  }, [html]);
  if (text === '') return null;
  return (
    <div class="body">
      <div
        ref={place}
        class={`markdown${isEmoji(text) ? ' emoji' : ''}`}
        dir="auto"
        dangerouslySetInnerHTML={{ __html: html }}
      />
      {isEdited && <span class="edited">(edited)</span>}
    </div>
  );
}

/** How many replies the thread of a message has. It opens the thread. */
function ThreadLink({ message }: { message: MessageRecord }) {
  const { chat_id, message_id, reply_count = 0, last_reply_at } = message;
  if (reply_count === 0) return null;
  return (
    <p class="replies">
      <a href={threadPath(chat_id, message_id)}>{reply_count === 1 ? '1 reply' : `${reply_count} replies`}</a>
      {last_reply_at !== undefined && <time dateTime={last_reply_at}>Last {shortTime(last_reply_at)}</time>}
    </p>
  );
}

/** The message that another one replies to, in one line. */
function Quote({ messageId, state }: { messageId: number; state: ChatState }) {
  const { store } = useSession();
  const quoted = state.find(messageId);
  return (
    <a class="quote" href={chatPath(state.chatId, messageId)}>
      {quoted ? (
        <>
          <bdi>{store.user(quoted.user_id)?.display_name ?? '…'}</bdi>{' '}
          <span>{quoted.deleted_at === null ? quoted.content || quoted.file?.name : 'Message deleted'}</span>
        </>
      ) : (
        <span>An earlier message</span>
      )}
    </a>
  );
}

function Actions({ message, state }: { message: MessageRecord; state: ChatState }) {
  const { client, store, report } = useSession();
  const anchor = useRef<HTMLDivElement>(null);
  const [isPicking, setPicking] = useState(false);
  const chat: ChatRecord | undefined = store.chat(state.chatId);
  const isOwn = message.user_id === store.me.user_id;
  const isPinned = chat?.pins.includes(message.message_id) ?? false;
  const togglePin = () => {
    const call = isPinned ? client.messages.unpin : client.messages.pin;
    const { message_id } = message;
    call({ message_id }).then(
      (sent) => store.changeChat(state.chatId, () => ({ pins: sent.chat.pins })),
      (error: Error) => {
        state.tell(error.message);
        report(error);
      },
    );
  };
  const copyLink = () => state.copyLink(message);
  return (
    <div class="actions" role="toolbar" aria-label="Message actions" ref={anchor}>
      <IconButton icon="react" label="React" isExpanded={isPicking} onClick={() => setPicking(!isPicking)} />
      {chat && maySend(chat) && <IconButton icon="reply" label="Reply" onClick={() => state.startReply(message)} />}
      {chat && maySend(chat) && state.threadId === undefined && (
        <IconButton
          icon="thread"
          label="Open the thread"
          onClick={() => navigate(threadPath(message.chat_id, message.thread_id ?? message.message_id))}
        />
      )}
      <IconButton icon="link" label="Copy link" onClick={copyLink} />
      {chat && mayPin(chat) && (
        <IconButton icon={isPinned ? 'unpin' : 'pin'} label={isPinned ? 'Unpin' : 'Pin'} onClick={togglePin} />
      )}
      {isOwn && <IconButton icon="edit" label="Edit" onClick={() => state.startEdit(message)} />}
      {(isOwn || (chat && mayManage(chat))) && (
        <IconButton icon="remove" label="Delete" onClick={() => state.askToDelete(message)} />
      )}
      {isPicking && anchor.current && (
        <ReactionPicker message={message} anchor={anchor.current} onClose={() => setPicking(false)} />
      )}
    </div>
  );
}

/** A message that the server does not have yet. */
export function UnsentRow({ item, isContinued }: { item: Unsent; isContinued: boolean }) {
  const { store, outbox, report } = useSession();
  const { seq, content, files, refusal, created_at } = item;
  const at = new Date(created_at).toISOString();
  const isOld = outbox.isOld(item);
  const retry = () => outbox.retry(seq).catch(report);
  const discard = () => outbox.discard(seq).catch(report);
  return (
    <article class={`message unsent${isContinued ? ' continued' : ''}`}>
      <Head userId={store.me.user_id} at={at} isContinued={isContinued} />
      <Content text={content} isEdited={false} />
      {files && <AttachedFiles files={files} />}
      {refusal === null && !isOld ? (
        <p class="status">Sending…</p>
      ) : (
        <p class="status failed">
          {refusal ?? `You wrote this on ${fullTime(at)}. Send it now?`}{' '}
          <button type="button" onClick={retry}>
            {refusal === null ? 'Send now' : 'Try again'}
          </button>{' '}
          <button type="button" onClick={discard}>
            Discard
          </button>
        </p>
      )}
    </article>
  );
}
