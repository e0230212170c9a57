/** @jsxImportSource preact */
import type { FileInfo } from '@parley-chat/sdk';
import { useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { fileSize } from '../lib/file-size.ts';
import { isPending, type PendingFile, type UnsentFile } from '../outbox/uploads.ts';
import { text } from '../text/text.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import './attachments.css';

/** Returns a path on this host: the URL of a file may name another one that the server is known by. */
export const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
};

/** Returns whether browsers show a file as a picture. The server sends others as attachments. */
export const isPicture = ({ mime_type }: FileInfo): boolean =>
  /^image\/(?:png|apng|jpeg|gif|webp|avif|bmp)$/.test(mime_type);

/** The files of a message: pictures, players, then links. */
export function Attachments({ files, state }: { files: readonly FileInfo[]; state: ChatState }) {
  if (files.length === 0) return null;
  const pictures = files.filter(isPicture);
  return (
    <div class="attachments">
      {pictures.length > 0 && (
        <div class="pictures">
          {pictures.map((file) => (
            <Picture key={file.file_id} file={file} isAlone={pictures.length === 1} state={state} />
          ))}
        </div>
      )}
      {files
        .filter((file) => !isPicture(file))
        .map((file) => (
          <Other key={file.file_id} file={file} />
        ))}
    </div>
  );
}

interface Box {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of a picture in a box. A small picture keeps its size. */
export function fit({ width, height }: Box, within: Box): Box {
  const scale = Math.min(1, within.width / width, within.height / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

const alone: Box = { width: 360, height: 270 };
const amongOthers: Box = { width: 150, height: 150 };
/** Larger ones would cost too much to animate in the list. */
const maxAnimatedBytes = 4 * 1_024 ** 2;

/** A picture whose place is known before it loads. */
function Picture({ file, isAlone, state }: { file: FileInfo; isAlone: boolean; state: ChatState }) {
  const { name, url, thumbnail_url, width, height, size, mime_type } = file;
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <FileLink file={file} />;
  const isAnimated = mime_type === 'image/gif' && size <= maxAnimatedBytes;
  const source = isAnimated ? url : (thumbnail_url ?? url);
  const box = isAlone ? alone : amongOthers;
  const place = isAlone && width && height ? fit({ width, height }, box) : box;
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    state.viewing.value = file.file_id;
  };
  return (
    <a class="picture" href={pathOf(url)} target="_blank" rel="noopener" title={name} onClick={open}>
      <img
        src={pathOf(source)}
        alt={name}
        width={place.width}
        height={place.height}
        style={{ aspectRatio: `${place.width} / ${place.height}` }}
        loading="lazy"
        decoding="async"
        onError={() => setBroken(true)}
      />
    </a>
  );
}

function Other({ file }: { file: FileInfo }) {
  const kind = /^(audio|video)\//.exec(file.mime_type)?.[1];
  const [isBroken, setBroken] = useState(false);
  if (kind === undefined || isBroken) return <FileLink file={file} />;
  const player = { src: pathOf(file.url), 'aria-label': file.name, onError: () => setBroken(true) };
  return (
    <figure class="player">
      {kind === 'audio' ? (
        <audio controls preload="metadata" {...player} />
      ) : (
        <video controls preload="metadata" playsInline {...player} />
      )}
      <figcaption>
        <FileName name={file.name} size={file.size} />
      </figcaption>
    </figure>
  );
}

function FileLink({ file }: { file: FileInfo }) {
  return (
    <a class="file-link" href={pathOf(file.url)} target="_blank" rel="noopener">
      <Icon name="file" />
      <FileName name={file.name} size={file.size} />
    </a>
  );
}

/** The files of a message that the server does not have yet. */
export function UnsentFiles({ files, state }: { files: readonly UnsentFile[]; state: ChatState }) {
  return (
    <div class="attachments">
      {files.map((file) =>
        isPending(file) ? (
          <Pending key={file.key} file={file} state={state} />
        ) : (
          <span key={file.file_id} class="file-link">
            <Icon name="file" />
            <FileName name={file.name} size={file.size} />
          </span>
        ),
      )}
    </div>
  );
}

/** A file that its message waits for. Only the tab that uploads it knows how far it is. */
function Pending({ file, state }: { file: PendingFile; state: ChatState }) {
  const { outbox, uploads, report } = useSession();
  const { key, name, size } = file;
  const upload = useComputed(() => uploads.find(key)).value;
  const problem = file.problem ?? (upload?.state.name === 'failed' ? upload.state.problem : undefined);
  const remove = () => {
    outbox.changeFile(key, () => undefined).catch(report);
    state.focusComposer.value++;
  };
  return (
    <>
      <span class={`file-link pending${file.problem === undefined ? '' : ' failed'}`}>
        <Icon name="file" />
        <FileName name={name} size={size} />
        {problem === undefined && <progress aria-label={text.uploads.progress(name)} value={upload?.sent} max={size} />}
        <IconButton
          icon="close"
          label={file.problem === undefined ? text.uploads.cancel(name) : text.common.remove(name)}
          onClick={remove}
        />
      </span>
      {problem !== undefined && <p class={`status${file.problem === undefined ? '' : ' failed'}`}>{problem}</p>}
    </>
  );
}

export function FileName({ name, size }: { name: string; size: number }) {
  return (
    <>
      <bdi class="file-name" title={name}>
        {name}
      </bdi>
      <span class="file-size">{fileSize(size)}</span>
    </>
  );
}
