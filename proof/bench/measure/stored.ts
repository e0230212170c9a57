import type { Engine } from '../../../server/store/engine/engine.ts';
import { type Random, stream } from '../../harness/random.ts';
import { environment, inParallel } from '../../harness/stage.ts';
import { makeChats, untilIndexed } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import { Parley } from '../parley.ts';
import type { Plan } from '../plan.ts';

const [short, long] = [50, 16_000];
const bars = { shortBytes: 370, longRatio: 1.3 };
const chatCount = 8;

/** A long message fills pages of its own, so fewer of them give an exact figure. */
const shortPerLong = 40;

/** Measures the bytes that a message adds to SQLite, with its event and its words in the search index. */
export async function measureStored({ sizes }: Plan): Promise<Outcome[]> {
  const shortBytes = await bytesPerMessage(short, sizes.storedMessages);
  const longBytes = await bytesPerMessage(long, sizes.storedMessages / shortPerLong);
  return [
    {
      kind: 'figure',
      what: `stored for a message of ${short} characters, SQLite`,
      value: shortBytes,
      unit: 'bytes',
      bar: bars.shortBytes,
    },
    {
      kind: 'figure',
      what: `stored for a message of ${long} characters, SQLite`,
      value: longBytes / long,
      unit: '× its text',
      bar: bars.longRatio,
      notes: [`${longBytes.toFixed(0)} bytes`],
    },
  ];
}

async function bytesPerMessage(length: number, count: number): Promise<number> {
  await using parley = await Parley.start(environment());
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, chatCount);
  const random = stream(1, 'words');
  await untilIndexed(parley.engine);
  const before = await bytesInUse(parley.engine);
  await inParallel(64, count, (n) =>
    ada.ok('messages.send_message', { chat_id: chats[n % chatCount] ?? 0, content: textOf(length, random) }),
  );
  await untilIndexed(parley.engine, 600);
  return ((await bytesInUse(parley.engine)) - before) / count;
}

/** The pages in use are those that the file has after a checkpoint. */
async function bytesInUse(engine: Engine): Promise<number> {
  const row = await engine.get<{ bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  return row?.bytes ?? Number.NaN;
}

/** Words of six letters and digits. */
const vocabulary = Array.from({ length: 5_000 }, (_, i) => (36 ** 5 + i * 400_009).toString(36));

/**
 * Returns text whose n-th most frequent word is n times as rare as the first, as in natural languages. 16,000 characters
 * have 900 different words; as much of Parley's documentation has 550 to 600.
 */
function textOf(length: number, random: Random): string {
  let text = '';
  while (text.length < length) text += `${vocabulary[Math.floor(vocabulary.length ** random())]} `;
  return text.slice(0, length);
}
