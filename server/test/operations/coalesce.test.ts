import { expect, test } from 'bun:test';
import { Batcher, type BatcherOptions } from '../../lib/batcher.ts';
import { onBothEngines } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';

/** Answers numbers with their double, except that 13 fails alone; each batch waits until it is let go. */
function doubling(options: BatcherOptions) {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const batcher = new Batcher<number, number>(async (batch) => {
    batches.push([...batch]);
    await new Promise<void>((open) => gates.push(open));
    return batch.map((n) => (n === 13 ? new Error('unlucky') : 2 * n));
  }, options);
  const letGo = async (nth = 0) => {
    while (gates.length <= nth) await Bun.sleep(0);
    gates.splice(nth, 1)[0]?.();
    await Bun.sleep(0);
  };
  return { batcher, batches, letGo };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('calls that arrive together run together, each with its own outcome', async () => {
  const { batcher, batches, letGo } = doubling({ maxItems: 100, concurrentBatches: 1 });
  const outcomes = Promise.allSettled([1, 13, 3].map((n) => batcher.submit(n)));
  await letGo();
  expect((await outcomes).map((o) => (o.status === 'fulfilled' ? o.value : 'failed'))).toEqual([2, 'failed', 6]);
  expect(batches).toEqual([[1, 13, 3]]);
});

test('what arrives while a batch is under way makes up the next, no larger than allowed', async () => {
  const { batcher, batches, letGo } = doubling({ maxItems: 2, concurrentBatches: 1 });
  const first = batcher.submit(1);
  await Bun.sleep(1);
  const rest = Promise.all([2, 3, 4].map((n) => batcher.submit(n)));
  expect(batches).toEqual([[1]]);
  await letGo();
  expect(await first).toBe(2);
  await letGo();
  await letGo();
  expect(await rest).toEqual([4, 6, 8]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('a batch that does not come back holds up others only for a while', async () => {
  const { batcher, batches, letGo } = doubling({ maxItems: 100, concurrentBatches: 1, slowMs: 20 });
  const stuck = batcher.submit(1);
  await Bun.sleep(1);
  const other = batcher.submit(2);
  while (batches.length < 2) await Bun.sleep(1);
  expect(batches).toEqual([[1], [2]]);
  await letGo(1);
  expect(await other).toBe(4);
  await letGo();
  expect(await stuck).toBe(2);
  const next = batcher.submit(3);
  await letGo();
  expect(await next).toBe(6);
});

test('a second batch sets out beside the first only when it is worth its cost', async () => {
  const { batcher, batches, letGo } = doubling({ maxItems: 100, concurrentBatches: 2 });
  const outcomes = [batcher.submit(100)];
  await Bun.sleep(1);
  outcomes.push(batcher.submit(101));
  await Bun.sleep(1);
  expect(batches).toEqual([[100]]);
  outcomes.push(...range(102, 120).map((n) => batcher.submit(n)));
  await Bun.sleep(1);
  expect(batches).toEqual([[100], range(101, 120)]);
  await letGo();
  await letGo();
  expect(await Promise.all(outcomes)).toEqual(range(100, 120).map((n) => 2 * n));
});

test('a batch that fails as a whole fails for everyone in it, and the next one runs', async () => {
  let fails = true;
  const batcher = new Batcher<number, number>(
    async (batch) => {
      if (fails) throw new Error('the disk is full');
      return batch;
    },
    { maxItems: 10, concurrentBatches: 1 },
  );
  const lost = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
  expect(lost.map((o) => o.status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await batcher.submit(3)).toBe(3);
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
