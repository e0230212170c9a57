import type { ChatId, UserId } from '@parley/contract';
import { readSettings } from '../../../server/config.ts';
import { words } from '../../../server/domain/words.ts';
import { openAsGuest } from '../../../server/store/engine/open.ts';
import { searchMessages } from '../../../server/store/search/search.ts';
import { given, say } from '../../harness/helper.ts';

/** The query of a search without HTTP, caller and response around it. Reports how many are done in a second. */
export interface QueryJob {
  readonly userId: number;
  readonly chatId: number;
  readonly word: string;
  readonly ms: number;
}

const { userId, chatId, word, ms } = await given<QueryJob>();
const settings = readSettings(process.env);
// A guest has one connection. A server on PostgreSQL has as many as its settings say.
const guests = settings.databaseUrl === undefined ? 1 : settings.connections;
const engines = await Promise.all(Array.from({ length: guests }, () => openAsGuest(settings)));
const query = {
  userId: userId as UserId,
  chatIds: [chatId as ChatId],
  words: words(word),
  before: Number.MAX_SAFE_INTEGER,
  // One more than a page, as in the server.
  limit: 51,
};
const concurrency = 64;

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
  await Promise.all(Array.from({ length: concurrency }, (_, n) => ask(n)));
  return (done * 1_000) / (performance.now() - began);
}

await askFor(ms / 4);
say(await askFor(ms));
await Promise.all(engines.map((engine) => engine.close()));
