import { expect, test } from 'bun:test';
import { Coalescer, type CoalescerOptions } from '../store/coalesce.ts';
import { onBothEngines } from './support/engines.ts';
import { serverFor } from './support/server.ts';

/** Answers numbers with their double, except that 13 fails alone; each batch waits until it is let go. */
function doubling(options: CoalescerOptions) {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const coalescer = new Coalescer<number, number>(async (batch) => {
    batches.push([...batch]);
    await new Promise<void>((open) => gates.push(open));
    return batch.map((n) => (n === 13 ? new Error('unlucky') : 2 * n));
  }, options);
  const letGo = async (nth = 0) => {
    while (gates.length <= nth) await Bun.sleep(0);
    gates.splice(nth, 1)[0]?.();
    await Bun.sleep(0);
  };
  return { coalescer, batches, letGo };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('calls that arrive together run together, each with its own outcome', async () => {
  const { coalescer, batches, letGo } = doubling({ largest: 100, parallel: 1 });
  const outcomes = Promise.allSettled([1, 13, 3].map((n) => coalescer.submit(n)));
  await letGo();
  expect((await outcomes).map((o) => (o.status === 'fulfilled' ? o.value : 'failed'))).toEqual([2, 'failed', 6]);
  expect(batches).toEqual([[1, 13, 3]]);
});

test('what arrives while a batch is under way makes up the next, no larger than allowed', async () => {
  const { coalescer, batches, letGo } = doubling({ largest: 2, parallel: 1 });
  const first = coalescer.submit(1);
  await Bun.sleep(1);
  const rest = Promise.all([2, 3, 4].map((n) => coalescer.submit(n)));
  expect(batches).toEqual([[1]]);
  await letGo();
  expect(await first).toBe(2);
  await letGo();
  await letGo();
  expect(await rest).toEqual([4, 6, 8]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('a batch that does not come back holds up others only for a while', async () => {
  const { coalescer, batches, letGo } = doubling({ largest: 100, parallel: 1, patienceMs: 20 });
  const stuck = coalescer.submit(1);
  await Bun.sleep(1);
  const other = coalescer.submit(2);
  while (batches.length < 2) await Bun.sleep(1);
  expect(batches).toEqual([[1], [2]]);
  await letGo(1);
  expect(await other).toBe(4);
  await letGo();
  expect(await stuck).toBe(2);
  const next = coalescer.submit(3);
  await letGo();
  expect(await next).toBe(6);
});

test('a second batch sets out beside the first only when it is worth its cost', async () => {
  const { coalescer, batches, letGo } = doubling({ largest: 100, parallel: 2 });
  const outcomes = [coalescer.submit(100)];
  await Bun.sleep(1);
  outcomes.push(coalescer.submit(101));
  await Bun.sleep(1);
  expect(batches).toEqual([[100]]);
  outcomes.push(...range(102, 120).map((n) => coalescer.submit(n)));
  await Bun.sleep(1);
  expect(batches).toEqual([[100], range(101, 120)]);
  await letGo();
  await letGo();
  expect(await Promise.all(outcomes)).toEqual(range(100, 120).map((n) => 2 * n));
});

test('a batch that fails as a whole fails for everyone in it, and the next one runs', async () => {
  let fails = true;
  const coalescer = new Coalescer<number, number>(
    async (batch) => {
      if (fails) throw new Error('the disk is full');
      return batch;
    },
    { largest: 10, parallel: 1 },
  );
  const lost = await Promise.allSettled([coalescer.submit(1), coalescer.submit(2)]);
  expect(lost.map((o) => o.status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await coalescer.submit(3)).toBe(3);
});

onBothEngines('sends that commit together', (engine) => {
  const server = serverFor(engine);

  test('each get a verdict of their own: what is wrong with one troubles no other', async () => {
    const [ada, bob] = [await server().user('ada'), await server().user('bob')];
    const { group } = await ada.ok('messages.create_group', { name: 'Open', participants: [bob.userId] });
    const { group: hidden } = await ada.ok('messages.create_group', { name: 'Hidden', participants: [] });
    const { channel } = await ada.ok('messages.create_channel', { name: 'News', participants: [bob.userId] });
    const { message } = await ada.ok('messages.send_message', { chat_id: hidden.chat_id, content: 'secret' });
    const kinds = [
      { input: { chat_id: group.chat_id, content: 'fine' }, expected: undefined },
      { input: { chat_id: hidden.chat_id, content: 'let me in' }, expected: 'not_found' },
      { input: { chat_id: 987_654, content: 'nowhere' }, expected: 'not_found' },
      { input: { chat_id: channel.chat_id, content: 'may I?' }, expected: 'forbidden' },
      { input: { chat_id: group.chat_id, content: 're', reply_to: message.message_id }, expected: 'validation_failed' },
    ] as const;
    const sends = range(0, 60).map((i) => kinds[i % kinds.length] ?? kinds[0]);
    const answers = await Promise.all(sends.map(({ input }) => bob.call('messages.send_message', input)));
    expect(answers.map((a) => a.error?.code)).toEqual(sends.map((s) => s.expected));
    const { messages } = await ada.ok('messages.get_messages', { chat_id: group.chat_id });
    expect(messages.map((m) => m.content)).toEqual(range(0, 12).map(() => 'fine'));
    const { events } = await ada.ok('events.list', { events: ['new_message'], limit: 200 });
    expect(events).toHaveLength(1 + 12);
  });
});
