/** @jsxImportSource preact */
import { useRef, useState } from 'preact/hooks';
import { type ChatHead, isMuted } from '../store/records.ts';
import { text } from '../text/text.ts';
import { mayManage, maySend, useSession } from './context.ts';
import { openDialog } from './dialogs.ts';
import { Icon, type IconName } from './icon.tsx';
import { Menu, type MenuItem } from './menu.tsx';
import { useAct } from './notice.tsx';
import { useMarkRead } from './use-mark-read.ts';

const words = text.chatMenu;

const hourMs = 3_600_000;
/** A mute without an end. */
const always = '9999-12-31T00:00:00.000Z';

type Preferences = Partial<Pick<ChatHead, 'notify' | 'muted_until' | 'archived' | 'pinned'>>;

interface ChatMenuProps {
  readonly chat: ChatHead;
  readonly label: string;
  /** Acts that come before the others, if there are any. */
  readonly first?: () => readonly MenuItem[];
}

/** The button of a chat's menu. The list has one in each row, so nothing else is made before it is open. */
export function ChatMenu({ chat, label, first }: ChatMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        ref={button}
        class="icon-button chat-menu-button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && button.current && (
        <OpenMenu chat={chat} label={label} first={first} anchor={button.current} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

interface OpenMenuProps extends Omit<ChatMenuProps, 'first'> {
  readonly first: ChatMenuProps['first'] | undefined;
  readonly anchor: HTMLElement;
  readonly onClose: () => void;
}

/** The settings of a chat that the user alone sees. */
function OpenMenu({ chat, label, first, anchor, onClose }: OpenMenuProps) {
  const { client, store, loader } = useSession();
  const act = useAct();
  const markRead = useMarkRead();
  const { chat_id, pinned, archived, notify, muted_until } = chat;
  const isUnread = (store.chat(chat_id)?.unread_count ?? 0) > 0;
  const set = (preferences: Preferences) =>
    act(words.failed, async () => {
      // It is shown at once, and put right if the server refuses.
      store.changeChat(chat_id, () => preferences);
      try {
        await client.chats.setPreferences({ chat_id, ...preferences });
      } catch (error) {
        const before = { pinned, archived, notify, muted_until };
        store.changeChat(chat_id, () => before);
        loader.chat(chat_id);
        throw error;
      }
    });
  const item = (label: string, icon: IconName, act: () => void): MenuItem => ({ label, icon, act });
  const muteFor = (hours: number) =>
    item(words.muteHours(hours), 'muted', () =>
      set({ muted_until: new Date(Date.now() + hours * hourMs).toISOString() }),
    );
  const choice = (label: string, value: ChatHead['notify']): MenuItem => ({
    label,
    isChecked: notify === value,
    act: () => set({ notify: value }),
  });
  const isMutedNow = muted_until !== null && isMuted({ notify: 'all', muted_until });
  const groups: readonly (readonly MenuItem[])[] = [
    first?.() ?? [],
    [
      ...(isUnread ? [item(words.markRead, 'check', () => markRead(chat_id))] : []),
      item(pinned ? words.unpin : words.pin, 'pin', () => set({ pinned: !pinned })),
      item(archived ? words.unarchive : words.archive, 'archive', () => set({ archived: !archived })),
      ...(mayManage(chat)
        ? [
            item(words.edit, 'edit', () => {
              openDialog.value = { name: 'edit', chatId: chat_id };
            }),
          ]
        : []),
      ...(chat.type !== 'direct' && maySend(chat)
        ? [
            item(words.hooks, 'link', () => {
              openDialog.value = { name: 'hooks', chatId: chat_id };
            }),
          ]
        : []),
    ],
    isMutedNow
      ? [item(words.unmute, 'muted', () => set({ muted_until: null }))]
      : [muteFor(1), muteFor(8), item(words.mute, 'muted', () => set({ muted_until: always }))],
    [choice(words.notifyAll, 'all'), choice(words.notifyMentions, 'mentions'), choice(words.notifyNever, 'none')],
  ];
  return <Menu label={label} anchor={anchor} groups={groups.filter((items) => items.length > 0)} onClose={onClose} />;
}
