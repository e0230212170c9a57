import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { decrypt, encryptTo } from '../../backup/encryption.ts';
import { BackupError } from '../../backup/failure.ts';
import { someBytes } from '../support/files.ts';

const passphrase = 'correct horse battery staple';
const cheap = { N: 16, r: 1, p: 1 };

/** Written down apart from the code: the sizes of the header, of a full chunk, and of a sealed one. */
const header = 73;
const chunk = 65_536;
const sealed = chunk + 16;

async function encrypted(plain: Uint8Array, partBytes = 10_000): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const sink = await encryptTo(async (bytes) => void parts.push(bytes), passphrase, randomBytes, cheap);
  for (let at = 0; at < plain.length; at += partBytes) await sink.append(plain.subarray(at, at + partBytes));
  await sink.finish();
  return Buffer.concat(parts);
}

async function* inParts(bytes: Uint8Array, partBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

const decrypted = async (bytes: Uint8Array, by: string | undefined = passphrase, partBytes = 50_000): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(decrypt(inParts(bytes, partBytes), by, cheap)));

/** The message of the refusal. */
async function refusal(bytes: Uint8Array, by: string | undefined = passphrase): Promise<string> {
  const error = await decrypted(bytes, by).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BackupError);
  return (error as BackupError).message;
}

describe('an encrypted backup', () => {
  const plain = crypto.getRandomValues(someBytes(65_000));
  const long = Buffer.concat([plain, plain, plain, plain]).subarray(0, 3 * chunk + 500);

  test.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk])('of %d bytes is read back', async (size) => {
    const bytes = await encrypted(long.subarray(0, size), 100_000);
    expect(bytes.length).toBe(header + size + 16 * Math.max(1, Math.ceil(size / chunk)));
    expect((await decrypted(bytes)).equals(long.subarray(0, size))).toBe(true);
  });

  test('is read back however its bytes arrive, and whatever the form of the letters in its passphrase', async () => {
    const bytes = await encrypted(long);
    for (const partBytes of [997, sealed, bytes.length]) {
      expect((await decrypted(bytes, passphrase, partBytes)).equals(long)).toBe(true);
    }
    const parts: Uint8Array[] = [];
    const sink = await encryptTo(
      async (part) => void parts.push(part),
      'Schlüssel'.normalize('NFD'),
      randomBytes,
      cheap,
    );
    await sink.append(plain);
    await sink.finish();
    expect((await decrypted(Buffer.concat(parts), 'Schlüssel'.normalize('NFC'))).equals(plain)).toBe(true);
  });

  test('has another key each time, and shows nothing of its contents', async () => {
    const zeros = new Uint8Array(2 * chunk);
    const [one, other] = [await encrypted(zeros), await encrypted(zeros)];
    expect(one.subarray(header, header + 64).equals(other.subarray(header, header + 64))).toBe(false);
    const [first, second] = [
      one.subarray(header, header + chunk),
      one.subarray(header + sealed, header + sealed + chunk),
    ];
    expect(first.equals(second)).toBe(false);
    expect(first.includes(Buffer.alloc(8))).toBe(false);
  });

  test('needs its passphrase', async () => {
    const bytes = await encrypted(plain);
    expect(await refusal(bytes, 'another')).toBe(
      'The passphrase is wrong, or the first bytes of the backup are damaged.',
    );
    const without = Array.fromAsync(decrypt(inParts(bytes, 1_000), undefined));
    await expect(without).rejects.toThrow(
      'The backup is encrypted. Give its passphrase with --passphrase-file or PARLEY_BACKUP_PASSPHRASE.',
    );
  });

  test('is refused after any change, and yields nothing from the change on', async () => {
    const bytes = await encrypted(long);
    const flipped = (at: number) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy;
    };
    const part = (i: number) => bytes.subarray(header + i * sealed, header + (i + 1) * sealed);
    const head = bytes.subarray(0, header);
    const other = await encrypted(long);
    const changed = {
      'a flipped bit in the first chunk': flipped(header + 5),
      'a flipped bit in a tag': flipped(header + sealed - 1),
      'a flipped bit in the last chunk': flipped(bytes.length - 20),
      'truncated at a chunk': bytes.subarray(0, header + 3 * sealed),
      'truncated after the header': head,
      'truncated inside a chunk': bytes.subarray(0, header + 2 * sealed + 100),
      'truncated inside a tag': bytes.subarray(0, header + sealed + 8),
      'swapped chunks': Buffer.concat([head, part(1), part(0), part(2), part(3)]),
      'a repeated chunk': Buffer.concat([head, part(0), part(0), part(1), part(2), part(3)]),
      'a removed chunk': Buffer.concat([head, part(0), part(2), part(3)]),
      'bytes after the end': Buffer.concat([bytes, Buffer.alloc(100)]),
      'itself after the end': Buffer.concat([bytes, part(3)]),
      'a chunk of another backup': Buffer.concat([
        head,
        part(0),
        other.subarray(header + sealed, header + 2 * sealed),
        part(2),
        part(3),
      ]),
    };
    for (const [what, damaged] of Object.entries(changed)) {
      expect({ what, message: await refusal(damaged) }).toEqual({
        what,
        message: expect.stringMatching(/^The backup is damaged or truncated: /),
      });
    }
    expect(await refusal(flipped(30))).toContain('The passphrase is wrong');
    const reading = decrypt(inParts(flipped(header + 2 * sealed + 9), 50_000), passphrase, cheap);
    const yielded = [(await reading.next()).value, (await reading.next()).value];
    expect(Buffer.concat(yielded as Buffer[]).equals(long.subarray(0, 2 * chunk))).toBe(true);
    await expect(reading.next()).rejects.toBeInstanceOf(BackupError);
  });

  test('of a newer version is refused', async () => {
    const bytes = await encrypted(plain);
    bytes[24] = 2;
    expect(await refusal(bytes)).toBe(
      'The backup has version 2 of the encryption, but this Parley supports only 1. Restore it with a newer Parley.',
    );
  });
});

describe('a backup that is not encrypted', () => {
  test('is read as it is, and refused if there is a passphrase', async () => {
    const plain = Bun.zstdCompressSync('hello hello '.repeat(1_000));
    expect(Buffer.concat(await Array.fromAsync(decrypt(inParts(plain, 7), undefined))).equals(plain)).toBe(true);
    expect(await refusal(plain)).toBe(
      'The backup is not encrypted. Restore it without a passphrase, if you trust its origin.',
    );
  });
});
