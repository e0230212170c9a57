import { figure } from '../../harness/report.ts';
import { environment, type Some } from '../../harness/stage.ts';
import type { EngineMeasure } from '../engines.ts';
import { filledChat, pagesOf, usersWithFilledChat } from '../fixtures.ts';
import { memoryOf, type Outcome } from '../outcome.ts';
import { Baseline, getMessages, Parley, type Request } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { load, race } from '../race.ts';

const keptBar = 0.4;
const middleBars = { sqlite: 0.22, postgres: 0.16 } as const;

/** The page that the server keeps in memory while nothing changes, and pages that it reads for each request. */
export const measureGet: EngineMeasure = async ({ engine, title, start }, plan) => {
  await using parley = await start();
  const { users, chat } = await usersWithFilledChat(parley, plan.sizes.chat);
  const { kept, middle } = await pagesOf(parley, users, chat);
  const measure = async (which: string, bar: number, requests: readonly Request[]): Promise<Outcome> => {
    const response = await parley.fetch((requests as Some<Request>)[0]);
    await using bare = await Baseline.start('server', response);
    const contender = parley.racer(requests);
    const result = await race(bare.like(contender), contender, plan);
    const notes = [`a response has ${Buffer.byteLength(response.body)} bytes`];
    return { kind: 'rates', what: `get_messages of 50, ${which}, ${title}`, bar, notes, ...result };
  };
  return [await measure('newest, kept', keptBar, kept), await measure('middle, read', middleBars[engine], middle)];
};

/** Pages that are spread evenly over a long chat. */
const pageCount = 20_000;
const memoryBar = 150;

/** A page of a long chat against the same page of a short one, on the same server: neither time nor memory may grow. */
export async function measureCliff(plan: Plan): Promise<Outcome[]> {
  const { chat, longChat, idleMs } = plan.sizes;
  await using parley = await Parley.start(environment());
  const { users, chat: shortChatId } = await usersWithFilledChat(parley, chat);
  const longChatId = await filledChat(parley, users, longChat);
  const short = await pagesOf(parley, users, shortChatId);
  const long = await pagesOf(parley, users, longChatId);
  const outcomes: Outcome[] = [];
  for (const page of ['newest', 'oldest'] as const) {
    const what = `${page} 50 of ${figure(longChat)} against of ${figure(chat)}`;
    const result = await race(parley.racer(short[page]), parley.racer(long[page]), plan);
    outcomes.push({ kind: 'rates', what, bar: 1 / 1.3, notes: [], ...result });
  }
  const [reader] = users;
  const { messages } = await reader.ok('messages.get_messages', { chat_id: longChatId, limit: 1 });
  const newest = messages[0]?.message_id ?? 0;
  const step = longChat / pageCount;
  const all = Array.from({ length: pageCount }, (_, i) =>
    getMessages(reader, longChatId, { before_id: String(Math.ceil(newest + 1 - i * step)) }),
  );
  const { answers } = await load(parley.racer(all), Math.max(2 * plan.seconds, plan.warmUpSeconds));
  await Bun.sleep(idleMs);
  const notes = [`after ${answers} pages of 50 from all over the chat were read`];
  return [...outcomes, memoryOf(parley.pid, `memory with a chat of ${figure(longChat)}`, memoryBar, notes)];
}
