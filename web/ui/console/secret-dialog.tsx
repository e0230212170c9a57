/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { Dialog } from '../dialog.tsx';
import { OneTimeSecret, type OneTimeSecretProps } from './one-time-secret.tsx';

const words = consoleText.secret;

interface SecretDialogProps extends Omit<OneTimeSecretProps, 'onCopy'> {
  readonly title: string;
  readonly about: string;
  readonly onClose: () => void;
  /** What can be done with it. */
  readonly children?: ComponentChildren;
}

/** Shows a new token or secret once. Neither Escape nor a click outside closes it before the secret was copied. */
export function SecretDialog({ title, about, onClose, children, ...secret }: SecretDialogProps) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog title={title} onClose={onClose} isHeld={!isCopied}>
      <p role="status">{about}</p>
      <OneTimeSecret {...secret} onCopy={() => setCopied(true)} />
      {children}
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          {isCopied ? words.close : words.saved}
        </button>
      </div>
    </Dialog>
  );
}
