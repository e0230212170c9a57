/** @jsxImportSource preact */
import { useSession } from './context.ts';
import type { DialogRequest } from './dialogs.ts';
import { EditChatDialog } from './edit-chat-dialog.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { HooksDialog } from './hooks-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { JumpToDate } from './jump-to-date.tsx';
import { NewChatDialog } from './new-chat-dialog.tsx';
import { PeopleDialog } from './people-dialog.tsx';
import { Switcher } from './switcher.tsx';

interface AppDialogProps {
  readonly dialog: DialogRequest;
  readonly onClose: () => void;
}

/** The windows that any view can open. */
export function AppDialog({ dialog, onClose }: AppDialogProps) {
  switch (dialog.name) {
    case 'new':
      return <NewChatDialog kind={dialog.kind} onClose={onClose} />;
    case 'switcher':
      return <Switcher onClose={onClose} />;
    case 'help':
      return <HelpDialog onClose={onClose} />;
    case 'invite':
      return <InviteDialog onClose={onClose} />;
    case 'people':
    case 'edit':
    case 'hooks':
      return <ChatDialog name={dialog.name} chatId={dialog.chatId} onClose={onClose} />;
    case 'date':
      return <JumpToDate chatId={dialog.chatId} onClose={onClose} />;
  }
}

const chatDialogs = { people: PeopleDialog, edit: EditChatDialog, hooks: HooksDialog } as const;

interface ChatDialogProps {
  readonly name: keyof typeof chatDialogs;
  readonly chatId: number;
  readonly onClose: () => void;
}

function ChatDialog({ name, chatId, onClose }: ChatDialogProps) {
  const chat = useSession().store.chat(chatId);
  const Shown = chatDialogs[name];
  return chat ? <Shown chat={chat} onClose={onClose} /> : null;
}
