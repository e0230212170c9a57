/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { text } from '../../text/text.ts';
import { Dialog } from '../dialog.tsx';
import { tell } from '../notice.tsx';
import { Problem, useSubmit } from '../problem.tsx';
import { navigate } from '../route.ts';

interface ConfirmDialogProps {
  readonly title: string;
  /** The words of the button. */
  readonly act: string;
  /** Told once it has happened, if the act does not tell it itself. */
  readonly done?: string;
  readonly onConfirm: () => Promise<unknown>;
  /** Where to go then, if the page is about something that is gone. */
  readonly to?: string;
  readonly onClose: () => void;
  /** What happens. */
  readonly children: ComponentChildren;
}

/** Says what an act does before it is done. */
export function ConfirmDialog({ title, act, done, onConfirm, to, onClose, children }: ConfirmDialogProps) {
  const { problem, submit, isBusy } = useSubmit();
  const confirm = async () => {
    await onConfirm();
    if (done !== undefined) tell(done);
    if (to === undefined) onClose();
    else navigate(to, { replace: true });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Problem words={problem} />
      <div class="buttons">
        <button type="button" class="button quiet" autofocus onClick={onClose}>
          {text.common.cancel}
        </button>
        <button type="button" class="button danger" disabled={isBusy} onClick={() => submit(confirm)}>
          {act}
        </button>
      </div>
    </Dialog>
  );
}
