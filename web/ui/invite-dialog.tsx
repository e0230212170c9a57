/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from '../lib/copy-text.ts';
import { maxNameLength } from '../lib/limits.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { Problem, useSubmit } from './problem.tsx';
import './invite-dialog.css';

const labels = { note: text.invite.theNote };

/** Makes an invitation, and shows it as a link and as a QR code. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { client, store } = useSession();
  const [note, setNote] = useState('');
  const [url, setUrl] = useState('');
  const { problem, submit, isBusy } = useSubmit({ labels });
  const create = async () => {
    const { url } = await client.invitations.create(note.trim() === '' ? {} : { note });
    setUrl(url);
    const { setup } = store;
    if (setup.value) setup.value = { ...setup.value, isInvited: true };
  };
  return (
    <Dialog title={text.invite.title(store.serviceName.value)} onClose={onClose}>
      {url === '' ? (
        <form
          class="content"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isBusy) submit(create);
          }}
        >
          <div class="field">
            <label for="invitation-note">{text.invite.note}</label>
            <input
              id="invitation-note"
              type="text"
              aria-describedby="invitation-note-about"
              maxLength={maxNameLength}
              autofocus
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
            <p id="invitation-note-about" class="muted">
              {text.invite.noteAbout}
            </p>
          </div>
          <Problem words={problem} />
          <div class="buttons">
            <button type="submit" class="button" disabled={isBusy}>
              {text.invite.create}
            </button>
          </div>
        </form>
      ) : (
        <Invitation url={url} onAnother={() => setUrl('')} />
      )}
    </Dialog>
  );
}

function Invitation({ url, onAnother }: { url: string; onAnother: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const isOnlyHere = isLoopback(url);
  return (
    <div class="invitation">
      <p>{isOnlyHere ? text.invite.hintLink : text.invite.hint}</p>
      <div class="field link">
        <input ref={field} type="text" readOnly aria-label={text.invite.link} value={url} />
        <button
          type="button"
          class="button"
          onClick={() => {
            setCopied(copyText(url, field.current?.parentElement ?? undefined));
            field.current?.select();
          }}
        >
          {isCopied ? text.invite.copied : text.invite.copy}
        </button>
      </div>
      {isOnlyHere ? <p>{text.invite.onlyHere}</p> : <QrCode url={url} />}
      <div class="buttons">
        <button type="button" class="button quiet" onClick={onAnother}>
          {text.invite.another}
        </button>
      </div>
    </div>
  );
}

/** Returns whether only this machine can open a URL. */
const isLoopback = (url: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);

const marginOfQr = 4;

function QrCode({ url }: { url: string }) {
  const [code, setCode] = useState<{ readonly path: string; readonly size: number } | undefined>(undefined);
  useEffect(() => {
    // Without it there is still the link.
    import('./qr-code.ts').then(
      ({ qrPath }) => setCode(qrPath(url)),
      () => {},
    );
  }, [url]);
  const side = (code?.size ?? 0) + 2 * marginOfQr;
  return (
    <div class="qr-code">
      {code && (
        <svg role="img" aria-label={text.invite.qrCode} viewBox={`${-marginOfQr} ${-marginOfQr} ${side} ${side}`}>
          <path d={code.path} />
        </svg>
      )}
    </div>
  );
}
