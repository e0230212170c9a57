import { createCipheriv, createDecipheriv, createHmac, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import type { Sink } from './archive-writer.ts';
import { BackupError, damaged } from './failure.ts';

/**
 * An encrypted backup is a header and chunks, each sealed with AES-256-GCM. The header holds a salt, so every backup has a key
 * of its own, and the nonce of a chunk can be its number and whether it is the last. A chunk that was changed, moved, added or
 * removed does not open.
 */
const magic = Buffer.from('parley encrypted backup\n');
const version = 1;
const saltBytes = 16;
const checkBytes = 32;
/** The header without its check. */
const prefixBytes = magic.length + 1 + saltBytes;
const headerBytes = prefixBytes + checkBytes;

const keyBytes = 32;
const tagBytes = 16;
const chunkBytes = 65_536;

/** The cost of a guess: 128 MiB of memory and half a second, as OWASP recommends. It belongs to the version. Tests use less. */
const standardCost: ScryptOptions = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * 1_048_576 };

const giveIt = 'with --passphrase-file or PARLEY_BACKUP_PASSPHRASE';
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Returns a sink that encrypts into another. `finish` writes the last chunk, without which the backup does not open. */
export async function encryptTo(
  sink: Sink,
  passphrase: string,
  random: (bytes: number) => Uint8Array,
  cost = standardCost,
): Promise<{ readonly append: Sink; readonly finish: () => Promise<void> }> {
  const prefix = Buffer.concat([magic, Buffer.from([version]), random(saltBytes)]);
  const { key, check } = await keysOf(passphrase, prefix, cost);
  await sink(Buffer.concat([prefix, check]));
  let held = Buffer.alloc(0);
  let number = 0;
  const seal = (chunk: Uint8Array, isLast: boolean): Promise<void> => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast));
    return sink(Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]));
  };
  return {
    append: async (bytes) => {
      held = Buffer.concat([held, bytes]);
      // The last chunk stays back, however full it is.
      for (; held.length > chunkBytes; held = held.subarray(chunkBytes))
        await seal(held.subarray(0, chunkBytes), false);
    },
    finish: () => seal(held, true),
  };
}

/**
 * Decrypts a backup, and yields one that is not encrypted as it is. Throws `BackupError` if the passphrase does not fit, or if
 * the bytes were changed. What it yields is authentic; only its end shows that it is complete.
 */
export async function* decrypt(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
  cost = standardCost,
): AsyncGenerator<Uint8Array> {
  let open: ((block: Buffer, isLast: boolean) => Buffer) | undefined;
  for await (const { block, isLast } of blocksOf(bytes)) {
    if (open) yield open(block, isLast);
    else if (block.subarray(0, magic.length).equals(magic)) open = await opener(block, isLast, passphrase, cost);
    else {
      if (passphrase !== undefined && block.subarray(0, zstdMagic.length).equals(zstdMagic)) {
        throw new BackupError('The backup is not encrypted. Restore it without a passphrase, if you trust its origin.');
      }
      open = (plain) => plain;
      yield block;
    }
  }
}

/** Returns a function that opens the chunks in their order. */
async function opener(header: Buffer, isLast: boolean, passphrase: string | undefined, cost: ScryptOptions) {
  if (isLast) throw damaged('it is truncated');
  const found = header[magic.length];
  if (found !== version) {
    throw new BackupError(
      `The backup has version ${found} of the encryption, but this Parley supports only ${version}. Restore it with a newer Parley.`,
    );
  }
  if (passphrase === undefined) throw new BackupError(`The backup is encrypted. Give its passphrase ${giveIt}.`);
  const { key, check } = await keysOf(passphrase, header.subarray(0, prefixBytes), cost);
  if (!timingSafeEqual(check, header.subarray(prefixBytes))) {
    throw new BackupError('The passphrase is wrong, or the first bytes of the backup are damaged.');
  }
  let number = 0;
  return (block: Buffer, isLast: boolean): Buffer => {
    if (block.length < tagBytes) throw damaged('it is truncated');
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number++, isLast), { authTagLength: tagBytes });
    decipher.setAuthTag(block.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(block.subarray(0, -tagBytes)), decipher.final()]);
    } catch (error) {
      throw damaged('a part of it was changed, or is missing', error);
    }
  };
}

/** Yields the header, then the sealed chunks. All blocks but the last are full. */
async function* blocksOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<{ block: Buffer; isLast: boolean }> {
  let held = Buffer.alloc(0);
  let size = headerBytes;
  for await (const part of bytes) {
    held = Buffer.concat([held, part]);
    while (held.length > size) {
      yield { block: held.subarray(0, size), isLast: false };
      held = held.subarray(size);
      size = chunkBytes + tagBytes;
    }
  }
  yield { block: held, isLast: true };
}

/** Returns the key of the chunks, and the check of the header, which tells a wrong passphrase from damage. */
async function keysOf(
  passphrase: string,
  prefix: Buffer,
  cost: ScryptOptions,
): Promise<{ key: Buffer; check: Buffer }> {
  const salt = prefix.subarray(-saltBytes);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The same text may be typed in composed and decomposed characters.
  scrypt(passphrase.normalize('NFC'), salt, 2 * keyBytes, cost, (error, keys) =>
    error ? reject(error) : resolve(keys),
  );
  const keys = await promise;
  return {
    key: keys.subarray(0, keyBytes),
    check: createHmac('sha256', keys.subarray(keyBytes)).update(prefix).digest(),
  };
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
