import { expect } from 'bun:test';
import fc from 'fast-check';
import { parseNatsUrl } from '../../../server/bus/nats-url.ts';
import { processRuntime } from '../../../server/compose.ts';
import { readSettings, SettingError, settingsTable } from '../../../server/config.ts';
import { parseS3Url } from '../../../server/files/storage/s3-url.ts';
import { SealedBox } from '../../../server/lib/sealed-box.ts';
import { parseKey } from '../../../server/store/data-folder/secret-key.ts';
import { SecretBox } from '../../../server/webhooks/sender.ts';
import { wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, outcome } from './outcome.ts';

const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((text) => text.isWellFormed());
const host = fc.tuple(fc.domain(), fc.integer({ min: 1, max: 65_535 })).map(([name, port]) => `${name}:${port}`);
const bucket = fc.stringMatching(/^[a-z0-9][a-z0-9-]{2,20}$/);

const s3 = fc.property(
  part,
  part,
  host,
  bucket,
  fc.array(bucket, { maxLength: 3 }),
  (key, secret, at, name, folders) => {
    const path = [name, ...folders].join('/');
    const read = parseS3Url(
      `https://${encodeURIComponent(key)}:${encodeURIComponent(secret)}@${at}/${path}?region=eu-1`,
    );
    expect(read).toMatchObject({ accessKeyId: key, secretAccessKey: secret, bucket: name, region: 'eu-1' });
    expect(read.endpoint).toBe(`https://${new URL(`https://${at}`).host}`);
    expect(read.prefix).toBe(folders.map((folder) => `${folder}/`).join(''));
  },
);

const nats = fc.property(part, part, fc.array(host, { minLength: 1, maxLength: 3 }), (user, password, hosts) => {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  const [first, ...others] = hosts;
  const read = parseNatsUrl([`nats://${credentials}${first}`, ...others.map((at) => `nats://${at}`)].join(', '));
  expect(read).toEqual({ servers: hosts, tls: false, user, password });
});

const secretly = 'hunter2hunter2';
const environment = Object.values(settingsTable).map(({ env }) => env);
const hiding = ['DATABASE_URL', 'NATS_URL', 'PARLEY_SECRET_KEY', 'S3_URL'];
const settingTokens = 'https:// postgres:// nats:// @ : / ? # % off 1/1 0 -1 65536 x ,'.split(' ');
const settingPiece = fc.oneof(fc.constantFrom(...settingTokens, ' '), wildText);

/** A setting is used, or refused in one line that shows no secret. */
const anySetting = fc.property(
  fc.constantFrom(...environment),
  fc.array(settingPiece, { maxLength: 5 }),
  (name, pieces) => {
    const text = `${pieces.join('')}${secretly}`;
    try {
      readSettings({ [name]: text });
    } catch (thrown) {
      if (!(thrown instanceof SettingError)) throw thrown;
      expect(thrown.message).toStartWith(`${name} `);
      expect(thrown.message).not.toContain('\n');
      if (hiding.includes(name)) expect(thrown.message).not.toContain(secretly);
    }
  },
);

const keys = fc.property(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constantFrom('base64', 'hex'),
  (bytes, form) => {
    expect(Buffer.from(parseKey(` ${Buffer.from(bytes).toString(form)}\n`)).equals(Buffer.from(bytes))).toBe(true);
  },
);

const anyKey = fc.property(wildText, (text) => {
  const { value } = outcome(() => parseKey(text), isA(Error));
  if (value) expect(value).toHaveLength(32);
});

const key = Buffer.alloc(32, 7);
const sealedBox = new SealedBox(key, processRuntime.random);
const box = new SecretBox(sealedBox);
const anyError = isA(Error);

function flip(bytes: Uint8Array, at: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  return flipped;
}

/** With another bit, with a byte more or less, or for another subject it does not open. */
const seals = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat({ max: 7 }), (text, place, bit) => {
  const sealed = sealedBox.seal(text, 'a');
  expect(sealedBox.open(sealed, 'a')).toBe(text.toWellFormed());
  const at = place % sealed.length;
  const longer = Buffer.concat([sealed, sealed.subarray(0, 1)]);
  for (const other of [flip(sealed, at, bit), sealed.subarray(0, at), longer]) {
    expect(outcome(() => sealedBox.open(other, 'a'), anyError).refused).toBe(true);
  }
  expect(outcome(() => sealedBox.open(sealed, 'b'), anyError).refused).toBe(true);
});

const anySeal = fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
  expect(outcome(() => sealedBox.open(bytes, 'a'), anyError).refused).toBe(true);
});

const boxes = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat({ max: 7 }), (text, place, bit) => {
  const sealed = box.seal(text);
  expect(box.open(sealed)).toBe(text.toWellFormed());
  const bytes = Buffer.from(sealed.slice(3), 'base64url');
  const at = place % bytes.length;
  for (const other of [flip(bytes, at, bit), bytes.subarray(0, at)]) {
    expect(outcome(() => box.open(`v1.${other.toString('base64url')}`), anyError).refused).toBe(true);
  }
});

const anyBox = fc.property(
  fc.oneof(
    wildText,
    wildText.map((text) => `v1.${text}`),
  ),
  (text) => {
    expect(outcome(() => box.open(text), anyError).refused).toBe(true);
  },
);

export const settings = [
  subject('the address of a store comes apart as it was put together', 200, s3),
  subject('the address of NATS comes apart as it was put together', 200, nats),
  subject('any setting is used, or refused without showing a secret', 500, anySetting),
  subject('a key is read in both of its forms', 100, keys),
  subject('any key has 32 bytes or is refused', 200, anyKey),
  subject('what is sealed opens as it was, or not at all', 200, seals),
  subject('nothing that was made up opens as sealed', 200, anySeal),
  subject('a secret that is kept opens as it was, or not at all', 200, boxes),
  subject('nothing that was made up opens as a secret', 200, anyBox),
];
