/** @jsxImportSource preact */
import { consoleText } from '../../../text/console/text.ts';
import { Dialog } from '../../dialog.tsx';
import { OneTimeSecret, type OneTimeSecretProps } from '../one-time-secret.tsx';

interface SecretDialogProps extends OneTimeSecretProps {
  readonly title: string;
  readonly about: string;
  readonly onClose: () => void;
}

/** Shows a new token or secret once. */
export const SecretDialog = ({ title, about, onClose, ...secret }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <p>{about}</p>
    <OneTimeSecret {...secret} />
    <div class="buttons">
      <button type="button" class="button" onClick={onClose}>
        {consoleText.access.close}
      </button>
    </div>
  </Dialog>
);
