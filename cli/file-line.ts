import type { FileInfo } from '@parley/contract';
import { bytesText } from './bytes.ts';
import { oneLine } from './terminal.ts';

/** A file that came with a message, with the id to download it by. */
export const fileLine = ({ file_id, name, size }: Pick<FileInfo, 'name' | 'size'> & { file_id: number }): string =>
  `[file ${file_id}: ${oneLine(name)}, ${bytesText(size)}]`;
