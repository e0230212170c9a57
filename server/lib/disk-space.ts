import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  readonly free: number;
  readonly total: number;
}

/** Returns the free and total bytes of the disk that holds a folder. */
export type MeasureSpace = (folder: string) => Promise<DiskSpace>;

export const measureSpace: MeasureSpace = async (folder) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
};

/** The default of the reserve. */
export const defaultReserveBytes = 256 * 1024 * 1024;

/** On a small disk the default is this share of it, but enough for the write-ahead log of the database. */
const smallDiskShare = 0.05;
const minReserveBytes = 32 * 1024 * 1024;

/** Returns the bytes that files leave free on a disk of this size. */
export const reserveOn = (total: number, reserveBytes: number): number =>
  reserveBytes === defaultReserveBytes
    ? Math.min(reserveBytes, Math.max(minReserveBytes, total * smallDiskShare))
    : reserveBytes;
