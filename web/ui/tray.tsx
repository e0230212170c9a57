/** @jsxImportSource preact */
import type { Upload } from '../outbox/uploads.ts';
import { FileName } from './attachments.tsx';
import { useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import './tray.css';

/** The files of the next message, with the progress of their uploads. */
export function Tray({ items }: { items: readonly Upload[] }) {
  if (items.length === 0) return null;
  return (
    <ul class="tray" aria-label="Attached files">
      {items.map((item) => (
        <TrayItem key={item.id} item={item} />
      ))}
    </ul>
  );
}

function TrayItem({ item }: { item: Upload }) {
  const { uploads } = useSession();
  const { id, name, size, sent, state, preview } = item;
  const isDone = state.name === 'done';
  const isFailed = state.name === 'failed';
  return (
    <li class={isFailed ? 'failed' : ''}>
      {preview === undefined ? (
        <span class="picture-of">
          <Icon name="file" />
        </span>
      ) : (
        <img class="picture-of" src={preview} alt="" width="40" height="40" />
      )}
      <div class="about">
        <FileName name={name} size={size} />
        {isFailed ? (
          <p class="problem" role="alert">
            {state.problem}
          </p>
        ) : isDone ? (
          <p class="done">
            <Icon name="check" /> Uploaded
          </p>
        ) : (
          <progress aria-label={`Upload of ${name}`} value={sent} max={Math.max(size, 1)} />
        )}
      </div>
      {isFailed && size > 0 && <IconButton icon="retry" label={`Retry ${name}`} onClick={() => uploads.retry(id)} />}
      <IconButton
        icon="close"
        label={isDone || isFailed ? `Remove ${name}` : `Cancel ${name}`}
        onClick={() => uploads.remove(id)}
      />
    </li>
  );
}
