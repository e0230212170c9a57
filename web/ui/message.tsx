/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import type { RefObject } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { pendingFilesOf, type Unsent } from '../outbox/outbox.ts';
import { type ChatRecord, filesOf, type MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { Attachments, UnsentFiles } from './attachments.tsx';
import { Avatar } from './avatar.tsx';
import type { ChatState } from './chat-state.ts';
import { colourCode } from './code.ts';
import { mayManage, mayPin, maySend, useSession, useUserName } from './context.ts';
import { EditForm } from './edit-form.tsx';
import { Icon, IconButton } from './icon.tsx';
import { hasKeyboard } from './keyboard.ts';
import { FailedDialog, later } from './later.tsx';
import { isEmoji, quoteOf, renderMarkdown } from './markdown.ts';
import { useAct } from './notice.tsx';
import { Reactions } from './reactions.tsx';
import { delayText, refusalText } from './refusals.ts';
import { chatPath, navigate, threadPath } from './route.ts';
import { fullTime, shortTime, timeOfDay } from './time.ts';
import { useSetPinned } from './use-set-pinned.ts';
import './message.css';

const ReactionPicker = later(async () => (await import('./parts.ts')).ReactionPicker, FailedDialog);

interface MessageProps {
  readonly message: MessageRecord;
  readonly isContinued: boolean;
  readonly state: ChatState;
}

/** One message. Its actions appear while the pointer or the focus is on it. */
export const MessageRow = memo(function MessageRow({ message, isContinued, state }: MessageProps) {
  const { message_id, user_id, created_at, edited_at, deleted_at, reply_to, reactions } = message;
  const isEditing = useComputed(() => state.editing.value === message_id).value;
  const isActive = useComputed(() => state.active.value === message_id).value;
  const isTarget = useComputed(() => state.target.value === message_id).value;
  const { store } = useSession();
  const isMentioned = store.isMentioned(message);
  // The record of a chat changes with each message in it.
  const isPinned = useComputed(() => store.chat(message.chat_id)?.pins.includes(message_id) ?? false).value;
  return (
    // The list moves the focus with j and k.
    <article
      class={`message${isContinued ? ' continued' : ''}${isTarget ? ' target' : ''}${isMentioned ? ' to-me' : ''}`}
      tabIndex={-1}
      data-message={message_id}
    >
      {reply_to !== null && reply_to !== state.threadId && <Quote messageId={reply_to} state={state} />}
      <Head
        userId={user_id}
        at={created_at}
        isContinued={isContinued}
        isActive={isActive}
        link={chatPath(message.chat_id, message_id)}
      />
      {isEditing ? (
        <EditForm message={message} state={state} />
      ) : deleted_at !== null ? (
        <p class="gone">{text.common.messageWasDeleted}</p>
      ) : (
        <Content content={message.content} isEdited={edited_at !== null} message={message} />
      )}
      <Attachments files={filesOf(message)} state={state} />
      {reactions.length > 0 && <Reactions message={message} />}
      {isPinned && (
        <p class="pinned">
          <Icon name="pin" /> {text.message.pinned}
        </p>
      )}
      {message.reply_count !== undefined && state.threadId === undefined && <ThreadLink message={message} />}
      {isActive && !isEditing && deleted_at === null && <Actions message={message} state={state} />}
    </article>
  );
});

interface HeadProps {
  readonly userId: number;
  readonly at: string;
  readonly isContinued: boolean;
  /** The pointer can be on it. To format the whole date takes longer than the rest of the head. */
  readonly isActive?: boolean;
  readonly link?: string;
  /** What happens to a message on its way. It is at the place of the time, so that nothing moves when the message is sent. */
  readonly progress?: string | undefined;
}

function Head({ userId, at, isContinued, isActive, link, progress }: HeadProps) {
  const name = useUserName(userId);
  const time = progress ? (
    <span class="sending" title={progress}>
      {isContinued && <Icon name="clock" />}
      <span class={isContinued ? 'unseen' : ''}>{progress}</span>
    </span>
  ) : (
    <time dateTime={at} title={isActive ? fullTime(at) : undefined}>
      {timeOfDay(at, isContinued)}
    </time>
  );
  const clock =
    link === undefined ? (
      time
    ) : (
      <a class="when" href={link}>
        {time}
      </a>
    );
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

function Content({ content, isEdited, message }: { content: string; isEdited: boolean; message?: MessageRecord }) {
  const { store } = useSession();
  const place = useRef<HTMLDivElement>(null);
  const names = (message?.mentions ?? []).flatMap((id) => store.user(id)?.name ?? []);
  if (message?.mentions_all) names.push('all');
  const html = renderMarkdown(content, { names, me: store.me.name });
  useLayoutEffect(() => {
    if (place.current) colourCode(place.current);
  }, [html]);
  if (content === '') return null;
  return (
    <div class="body">
      <div
        ref={place}
        class={`markdown${isEmoji(content) ? ' emoji' : ''}`}
        dir="auto"
        dangerouslySetInnerHTML={{ __html: html }}
      />
      {isEdited && <span class="edited">{text.message.edited}</span>}
    </div>
  );
}

/** How many replies the thread of a message has. It opens the thread. */
function ThreadLink({ message }: { message: MessageRecord }) {
  const { chat_id, message_id, reply_count = 0, last_reply_at } = message;
  if (reply_count === 0) return null;
  return (
    <p class="replies">
      <a href={threadPath(chat_id, message_id)}>{text.common.replies(reply_count)}</a>
      {last_reply_at !== undefined && (
        <time dateTime={last_reply_at}>{text.message.lastReply(shortTime(last_reply_at))}</time>
      )}
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
          <span>{quoted.deleted_at === null ? quoteOf(quoted) : text.common.deletedMessage}</span>
        </>
      ) : (
        <span>{text.message.earlier}</span>
      )}
    </a>
  );
}

/**
 * On a touch screen the actions are above the message, so that they neither cover it nor get the next tap on it. Without room
 * there, they are below it. A tap elsewhere hides them.
 */
function useActionsOfTap(bar: RefObject<HTMLElement | null>, state: ChatState): void {
  useLayoutEffect(() => {
    const { current } = bar;
    const row = current?.closest('.message');
    const list = current?.closest('[role="log"]');
    if (!current || !row || !list || hasKeyboard()) return undefined;
    const [at, within] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
    const hasRoomAbove = at.top - current.offsetHeight >= within.top;
    const hasRoomBelow = at.bottom + current.offsetHeight <= within.bottom;
    current.classList.toggle('below', !hasRoomAbove && hasRoomBelow);
    // A message that fills the screen has them at its end.
    current.classList.toggle('inside', !hasRoomAbove && !hasRoomBelow);
    const onClick = ({ target }: MouseEvent) => {
      // A button that is gone since the tap was in the message.
      const isElsewhere =
        target instanceof Element &&
        target.isConnected &&
        !row.contains(target) &&
        !target.closest('dialog, [popover]');
      if (isElsewhere) state.deactivate();
    };
    addEventListener('click', onClick);
    return () => removeEventListener('click', onClick);
  }, [bar, state]);
}

function Actions({ message, state }: { message: MessageRecord; state: ChatState }) {
  const { store } = useSession();
  const act = useAct();
  const setPinned = useSetPinned();
  const anchor = useRef<HTMLDivElement>(null);
  const [isPicking, setPicking] = useState(false);
  useActionsOfTap(anchor, state);
  const chat: ChatRecord | undefined = store.chat(state.chatId);
  const isOwn = message.user_id === store.me.user_id;
  const isPinned = chat?.pins.includes(message.message_id) ?? false;
  const togglePin = () =>
    act(isPinned ? text.pins.unpinFailed : text.message.pinFailed, () => setPinned(message, !isPinned));
  const copyLink = () => state.copyLink(message);
  return (
    <div class="actions" role="toolbar" aria-label={text.message.actions} ref={anchor}>
      <IconButton
        icon="react"
        label={text.message.react}
        isExpanded={isPicking}
        onClick={() => setPicking(!isPicking)}
      />
      {chat && maySend(chat) && (
        <IconButton icon="reply" label={text.message.reply} onClick={() => state.startReply(message)} />
      )}
      {chat && maySend(chat) && state.threadId === undefined && (
        <IconButton
          icon="thread"
          label={text.message.openThread}
          onClick={() => navigate(threadPath(message.chat_id, message.thread_id ?? message.message_id))}
        />
      )}
      <IconButton icon="link" label={text.message.copyLink} onClick={copyLink} />
      {chat && mayPin(chat) && (
        <IconButton
          icon={isPinned ? 'unpin' : 'pin'}
          label={isPinned ? text.message.unpin : text.message.pin}
          onClick={togglePin}
        />
      )}
      {isOwn && <IconButton icon="edit" label={text.message.edit} onClick={() => state.startEdit(message)} />}
      {(isOwn || (chat && mayManage(chat))) && (
        <IconButton icon="remove" label={text.message.delete} onClick={() => state.askToDelete(message)} />
      )}
      {isPicking && anchor.current && (
        <ReactionPicker message={message} anchor={anchor.current} onClose={() => setPicking(false)} />
      )}
    </div>
  );
}

interface UnsentProps {
  readonly item: Unsent;
  readonly isContinued: boolean;
  readonly state: ChatState;
}

/** A message that the server does not have yet. It has the height that it will have when it is sent. */
export function UnsentRow({ item, isContinued, state }: UnsentProps) {
  const { store, outbox } = useSession();
  const { content, files, reply_to } = item;
  const isWaiting = outbox.isOnItsWay(item);
  const isUploading = pendingFilesOf(item).length > 0;
  const delay = outbox.delay.value;
  return (
    <article class={`message unsent${isContinued ? ' continued' : ''}`}>
      {reply_to !== null && reply_to !== state.threadId && <Quote messageId={reply_to} state={state} />}
      <Head
        userId={store.me.user_id}
        at={new Date(item.created_at).toISOString()}
        isContinued={isContinued}
        progress={isWaiting ? (isUploading ? text.message.uploading : text.message.sending) : undefined}
      />
      <Content content={content} isEdited={false} />
      {files && <UnsentFiles files={files} state={state} />}
      {!isWaiting && <NotSent item={item} state={state} />}
      {isWaiting && delay && item.key === outbox.next()?.key && (
        <p class="status" role="status">
          {delayText(delay)}
        </p>
      )}
    </article>
  );
}

/** Why a message is not sent by itself, and what the user can do. */
function NotSent({ item, state }: Omit<UnsentProps, 'isContinued'>) {
  const { outbox, drafts, uploads, report } = useSession();
  const { seq, content, files = [], reply_to, refusal, created_at } = item;
  const failed = pendingFilesOf(item).filter(({ problem }) => problem);
  const mayRetry = failed.length === 0 || failed.some(({ is_lost }) => !is_lost);
  const putBack = async () => {
    const begun = drafts.get(state);
    drafts.set(state, begun === '' ? content : `${content}\n${begun}`);
    state.replyingTo.value ??= reply_to === null || reply_to === state.threadId ? undefined : state.find(reply_to);
    state.focusComposer.value++;
    // The server does not have those that it refused.
    if (refusal?.field !== 'file_ids') await uploads.putBack(state, files, created_at);
    await outbox.discard(seq);
  };
  const discard = () => {
    outbox.discard(seq).catch(report);
    state.focusComposer.value++;
  };
  return (
    <p class="status failed" role="alert">
      {refusal
        ? refusalText(refusal)
        : failed.length > 0
          ? text.message.filesFailed(failed.length)
          : text.message.old(fullTime(new Date(created_at).toISOString()))}
      <span class="buttons">
        {mayRetry && (
          <button type="button" onClick={() => outbox.retry(seq).catch(report)}>
            {refusal === null && failed.length === 0 ? text.message.sendNow : text.common.tryAgain}
          </button>
        )}
        {content !== '' && (
          <button type="button" onClick={() => putBack().catch(report)}>
            {text.message.putBack}
          </button>
        )}
        <button type="button" onClick={discard}>
          {text.message.discard}
        </button>
      </span>
    </p>
  );
}
