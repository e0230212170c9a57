/** @jsxImportSource preact */
import type { FileInfo } from '@parley-chat/sdk';
import './file-link.css';

const units = ['bytes', 'KB', 'MB', 'GB'];

export function fileSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1_024)), units.length - 1);
  const amount = bytes / 1_024 ** power;
  return `${amount >= 10 || power === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

/** The path of a file on this host: its URL may name another one that the server is known by. */
const pathOf = ({ url }: FileInfo): string => {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
};

export function FileLink({ file }: { file: FileInfo }) {
  const path = pathOf(file);
  if (/^image\/(?:png|apng|jpeg|gif|webp|avif|bmp)$/.test(file.mime_type)) {
    return (
      <a class="file-picture" href={path} target="_blank" rel="noopener">
        <img src={path} alt={file.name} loading="lazy" />
      </a>
    );
  }
  return (
    <a class="file-link" href={path} target="_blank" rel="noopener">
      <bdi>{file.name}</bdi>
      <span>{fileSize(file.size)}</span>
    </a>
  );
}
