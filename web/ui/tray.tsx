/** @jsxImportSource preact */
import type { Upload } from '../outbox/uploads.ts';
import { text } from '../text/text.ts';
import { FileName } from './attachments.tsx';
import { useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { delayText } from './refusals.ts';
import './tray.css';

/** The files of the next message, with the progress of their uploads. */
export function Tray({ items }: { items: readonly Upload[] }) {
  return (
    <ul class="tray" aria-label={text.uploads.label}>
      {items.map((item) => (
        <TrayItem key={item.key} item={item} />
      ))}
    </ul>
  );
}

function TrayItem({ item }: { item: Upload }) {
  const { uploads } = useSession();
  const { key, name, size, sent, state, preview } = item;
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
            <Icon name="check" /> {text.uploads.uploaded}
          </p>
        ) : (
          <>
            <progress aria-label={text.uploads.progress(name)} value={sent} max={Math.max(size, 1)} />
            {state.name === 'uploading' && state.delay && <p role="status">{delayText(state.delay)}</p>}
          </>
        )}
      </div>
      {isFailed && !state.isFinal && (
        <IconButton icon="retry" label={text.uploads.retry(name)} onClick={() => uploads.retry(key)} />
      )}
      <IconButton
        icon="close"
        label={isDone || isFailed ? text.common.remove(name) : text.uploads.cancel(name)}
        onClick={() => uploads.remove(key)}
      />
    </li>
  );
}
