import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import type { Outcome } from '../outcome.ts';
import {
  freshEnvironment,
  getMessages,
  type ParleyUnderTest,
  type Request,
  startBare,
  startParley,
} from '../parley.ts';
import type { Plan } from '../plan.ts';
import { load, race } from '../race.ts';
import { first, makeFilledChat, makeUsers, pagesOf } from '../scene.ts';
import { memoryOf } from './memory.ts';

const bar = 0.4;

/** The page that the server keeps in memory while nothing changes, and pages that it reads for each request. */
export function measureGet(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `get_messages of 50, ${title}`, async (fresh) => {
    await using parley = await startParley(await fresh());
    const users = await makeUsers(parley, 4);
    const pages = await pagesOf(parley, users, await makeFilledChat(parley, users, plan.sizes.chat));
    return [
      await measurePage(parley, `get_messages of 50, newest, kept, ${title}`, pages.kept, plan),
      await measurePage(parley, `get_messages of 50, middle, read, ${title}`, pages.middle, plan),
    ];
  });
}

async function measurePage(
  parley: ParleyUnderTest,
  what: string,
  requests: readonly Request[],
  plan: Plan,
): Promise<Outcome> {
  const answer = await parley.answer(first(requests));
  await using bare = await startBare(answer);
  const contender = parley.racer(requests);
  const result = await race({ ...contender, ...bare }, contender, plan);
  const notes = [`an answer has ${Buffer.byteLength(answer.body)} bytes`];
  return { kind: 'rates', what, bar, notes, ...result };
}

/** Pages that lie evenly over a long chat, of which each is asked for. */
const pagesOver = 20_000;
const memoryBar = 150;

/** A page of a long chat against the same page of a short one, on the same server: neither time nor memory may grow. */
export async function measureCliff(plan: Plan): Promise<Outcome[]> {
  const { chat, longChat, idleMs } = plan.sizes;
  await using parley = await startParley(freshEnvironment());
  const users = await makeUsers(parley, 4);
  const short = await pagesOf(parley, users, await makeFilledChat(parley, users, chat));
  const longOne = await makeFilledChat(parley, users, longChat);
  const long = await pagesOf(parley, users, longOne);
  const [few, many] = [chat.toLocaleString('en'), longChat.toLocaleString('en')];
  const outcomes: Outcome[] = [];
  for (const page of ['newest', 'oldest'] as const) {
    const result = await race(parley.racer(short[page]), parley.racer(long[page]), plan);
    outcomes.push({
      kind: 'rates',
      what: `${page} 50 of ${many} against of ${few}`,
      bar: 1 / 1.3,
      notes: [],
      ...result,
    });
  }
  const { messages } = await first(users).ok('messages.get_messages', { chat_id: longOne, limit: 1 });
  const newest = messages[0]?.message_id ?? 0;
  const step = longChat / pagesOver;
  const all = Array.from({ length: pagesOver }, (_, i) =>
    getMessages(first(users), longOne, { before_id: String(Math.ceil(newest + 1 - i * step)) }),
  );
  const { answers } = await load(parley.racer(all), Math.max(2 * plan.seconds, plan.warmUpSeconds));
  await Bun.sleep(idleMs);
  const notes = [`after ${answers} pages of 50 from all over the chat were read`];
  return [...outcomes, memoryOf(parley.pid, `memory with a chat of ${many}`, memoryBar, notes)];
}
