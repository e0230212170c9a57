/** @jsxImportSource preact */
import { text } from '../text/text.ts';
import { Dialog } from './dialog.tsx';

interface SignOutDialogProps {
  /** How many messages would be lost. */
  readonly unsent: number;
  readonly onClose: () => void;
  readonly onSignOut: () => void;
}

export function SignOutDialog({ unsent, onClose, onSignOut }: SignOutDialogProps) {
  const signOut = () => {
    onClose();
    onSignOut();
  };
  return (
    <Dialog title={text.sidebar.signOut} onClose={onClose}>
      <p>{text.signOut.unsent(unsent)}</p>
      <div class="buttons">
        <button type="button" class="button quiet" autofocus onClick={onClose}>
          {text.signOut.stay}
        </button>
        <button type="button" class="button danger" onClick={signOut}>
          {text.signOut.anyway}
        </button>
      </div>
    </Dialog>
  );
}
