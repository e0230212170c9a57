import type { ChatId, UserId } from '@parley/contract';
import { readSettings } from '../../../server/config.ts';
import { words } from '../../../server/domain/words.ts';
import { openAsGuest } from '../../../server/store/open.ts';
import { searchMessages } from '../../../server/store/search.ts';

/**
 * What the database alone takes for a search: the same query, as many at once, with no HTTP, caller or answer around it.
 * Writes how many were done in a second to the file OUT.
 */
const { USER, CHAT, WORD, MS, OUT, ...environment } = process.env;
const settings = readSettings(environment);
// A guest has one connection, a server on PostgreSQL as many as its settings say.
const guests = settings.databaseUrl === undefined ? 1 : settings.connections;
const engines = await Promise.all(Array.from({ length: guests }, () => openAsGuest(settings)));
const query = {
  userId: Number(USER) as UserId,
  chatIds: [Number(CHAT) as ChatId],
  words: words(WORD ?? ''),
  before: Number.MAX_SAFE_INTEGER,
  // One more than is shown, which tells whether there are more.
  limit: 51,
};
const atOnce = 64;

async function askFor(ms: number): Promise<number> {
  const began = performance.now();
  let done = 0;
  const ask = async (n: number) => {
    const engine = engines[n % engines.length];
    while (engine && performance.now() - began < ms) {
      await searchMessages(engine, query);
      done++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => ask(n)));
  return (done * 1_000) / (performance.now() - began);
}

await askFor(Number(MS) / 4);
await Bun.write(OUT ?? '', String(await askFor(Number(MS))));
await Promise.all(engines.map((engine) => engine.close()));
