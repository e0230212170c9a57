import { damaged } from './failure.ts';

/** The part of the POSIX tar format that backups need: plain files with short names. Any `tar` can open them. */

export const blockBytes = 512;

const at = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  time: [136, 12],
  sum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
} as const;

/** Sizes from here on do not fit into eleven octal digits and are written in binary. */
const octalEnd = 8 ** 11;

export function headerOf(name: string, size: number, seconds: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const put = (field: keyof typeof at, text: string) => header.write(text, at[field][0], at[field][1], 'latin1');
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  if (name.length > at.name[1] || /[^\x21-\x7e]/.test(name)) throw new Error(`${name} is not a valid name of an entry`);
  put('name', name);
  put('mode', octal(0o600, 7));
  put('uid', octal(0, 7));
  put('gid', octal(0, 7));
  if (size < octalEnd) put('size', octal(size, 11));
  else {
    header[at.size[0]] = 0x80;
    header.writeBigUInt64BE(BigInt(size), at.size[0] + 4);
  }
  put('time', octal(seconds, 11));
  put('type', '0');
  put('magic', 'ustar\x0000');
  put('sum', `${octal(sumOf(header), 6)}\0 `);
  return header;
}

/** Fills the last block of an entry. */
export const paddingAfter = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);

export const endOfTar: Buffer = Buffer.alloc(2 * blockBytes);

/** The sum of all bytes, with its own field counted as spaces. */
function sumOf(header: Buffer): number {
  const [start, length] = at.sum;
  return header.reduce((sum, byte, i) => sum + (i >= start && i < start + length ? 0x20 : byte), 0);
}

/** Returns undefined for a block of zeros, which ends an archive. Throws `BackupError` for an invalid header. */
export function parseHeader(header: Buffer): { name: string; size: number } | undefined {
  if (header.equals(endOfTar.subarray(0, blockBytes))) return undefined;
  const text = (field: keyof typeof at) => {
    const [start, length] = at[field];
    return header.toString('latin1', start, start + length).replace(/[\0 ]+$/, '');
  };
  if (parseOctal(text('sum')) !== sumOf(header)) throw damaged('a checksum does not match');
  const isLarge = header[at.size[0]] === 0x80;
  const size = isLarge ? Number(header.readBigUInt64BE(at.size[0] + 4)) : parseOctal(text('size'));
  if (text('type') !== '0' || !Number.isSafeInteger(size)) throw damaged('an entry is not a file');
  return { name: text('name'), size };
}

const parseOctal = (digits: string): number => (/^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN);
