/** @jsxImportSource preact */
import { useRef, useState } from 'preact/hooks';
import { type ChatRecord, isMuted } from '../store/records.ts';
import { useSession } from './context.ts';
import { Icon, type IconName } from './icon.tsx';
import { Menu, type MenuItem } from './menu.tsx';

const hourMs = 3_600_000;
/** A mute without an end. */
const always = '9999-12-31T00:00:00.000Z';

type Preferences = Partial<Pick<ChatRecord, 'notify' | 'muted_until' | 'archived' | 'pinned'>>;

/** The button of a chat's menu: what the user alone sees and sets. */
export function ChatMenu({ chat, label }: { chat: ChatRecord; label: string }) {
  const { client, store, loader, report } = useSession();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { chat_id, pinned, archived, notify, muted_until, unread_count } = chat;
  const set = (preferences: Preferences) => {
    // It is shown at once, and put right if the server refuses.
    store.changeChat(chat_id, () => preferences);
    client.chats.setPreferences({ chat_id, ...preferences }).catch((error: unknown) => {
      loader.chat(chat_id);
      report(error);
    });
  };
  const muteFor = (ms: number) => set({ muted_until: new Date(Date.now() + ms).toISOString() });
  const markRead = () => {
    const message_id = store.newestId(chat_id);
    client.messages.markRead({ chat_id, message_id }).then(({ read }) => {
      store.changeChat(chat_id, () => ({ unread_count: read.unread_count, mention_count: 0 }));
    }, report);
  };
  const item = (text: string, icon: IconName, act: () => void): MenuItem => ({ label: text, icon, act });
  const choice = (text: string, value: ChatRecord['notify']): MenuItem => ({
    label: text,
    isChecked: notify === value,
    act: () => set({ notify: value }),
  });
  const isMutedNow = muted_until !== null && isMuted({ notify: 'all', muted_until });
  const groups: readonly (readonly MenuItem[])[] = [
    [
      ...(unread_count > 0 ? [item('Mark as read', 'check', markRead)] : []),
      item(pinned ? 'Unpin from the top' : 'Pin to the top', 'pin', () => set({ pinned: !pinned })),
      item(archived ? 'Move out of the archive' : 'Archive', 'archive', () => set({ archived: !archived })),
    ],
    isMutedNow
      ? [item('Unmute', 'muted', () => set({ muted_until: null }))]
      : [
          item('Mute for 1 hour', 'muted', () => muteFor(hourMs)),
          item('Mute for 8 hours', 'muted', () => muteFor(8 * hourMs)),
          item('Mute', 'muted', () => set({ muted_until: always })),
        ],
    [
      choice('Notify about all messages', 'all'),
      choice('Notify about mentions', 'mentions'),
      choice('Never notify', 'none'),
    ],
  ];
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
        <Menu label={label} anchor={button.current} groups={groups} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
