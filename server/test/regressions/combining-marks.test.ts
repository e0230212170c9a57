import { expect, test } from 'bun:test';
import { words } from '../../domain/words.ts';
import { freshEnvironment } from '../support/engines.ts';
import { attach, spawnServer } from '../support/server.ts';

/** Legal content of 16 KB. Normalizing sorts marks by their class, and here every one of the second half must move. */
const pile = '\u0301'.repeat(4_095) + '\u0316'.repeat(4_095);
const plain = 'words and more '.repeat(1_092);

/** The best of some tries: what else the machine does can only make one longer. */
function cost(text: string): number {
  const tries = Array.from({ length: 10 }, () => {
    const start = performance.now();
    words(text);
    return performance.now() - start;
  });
  return Math.min(...tries);
}

test('text of nothing but combining marks is cut into words about as fast as any other', () => {
  cost(plain);
  expect(cost(pile)).toBeLessThan(50 * cost(plain));
});

test('messages of nothing but combining marks do not keep others waiting', async () => {
  const env = await freshEnvironment('sqlite');
  const running = await spawnServer(env);
  const server = await attach(running.url, env);
  try {
    const [ada, bob] = [await server.user('ada'), await server.user('bob')];
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const sent = Promise.all(
      Array.from({ length: 40 }, () => ada.ok('messages.send_message', { chat_id, content: pile })),
    );
    let longest = 0;
    for (const end = performance.now() + 3_000; performance.now() < end; await Bun.sleep(10)) {
      const asked = performance.now();
      await bob.ok('users.me', {});
      longest = Math.max(longest, performance.now() - asked);
    }
    await sent;
    expect(longest).toBeLessThan(1_000);
  } finally {
    await server.stop();
    await running.kill('SIGKILL');
  }
});
