import { expect, test } from 'bun:test';
import { openDisk } from '../../files/storage/disk.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { newGroup, statusOf, sweep, uploadText } from '../support/file-removal.ts';
import { keeps, nothing, sha256 } from '../support/files.ts';
import { users } from '../support/people.ts';
import { attach, spawnServer } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onBothEngines('a file that is sent again while its last message is deleted', (engine) => {
  test('exists while a message uses it, and is removed completely otherwise', async () => {
    const env = await freshEnvironment(engine);
    // The server is another process: removals here wait for its transactions, as on another node.
    const running = await spawnServer(env);
    const server = await attach(running.url, env);
    const blobs = openDisk(env.PARLEY_DATA ?? '');
    const { ada, bob } = await users(server, 'ada', 'bob');
    const chat_id = await newGroup(ada, bob);
    let alive = true;
    const sweeping = (async () => {
      for (; alive; await Bun.sleep(1)) await sweep(server, blobs, Date.now());
    })();
    const one = async (round: string, deleteAfterMs: number) => {
      const { file_id, url } = await uploadText(ada, round);
      let living = (await ada.ok('messages.send_message', { chat_id, file_id })).message.message_id;
      for (let turn = 0; turn < 3; turn++) {
        const [again] = await Promise.all([
          ada.call('messages.send_message', { chat_id, file_id }),
          Bun.sleep(deleteAfterMs).then(() => ada.ok('messages.delete_message', { message_id: living })),
        ]);
        if (again.status !== 200) {
          expectRefusal(again, 'validation_failed');
          expect(await statusOf(bob, url)).toBe(404);
          return;
        }
        const fetched = await fetch(url, { headers: { authorization: `Bearer ${bob.token}` } });
        expect({ round, turn, status: fetched.status }).toEqual({ round, turn, status: 200 });
        expect(sha256(await fetched.bytes())).toBe(sha256(round));
        living = again.body.message.message_id;
      }
      await ada.ok('messages.delete_message', { message_id: living });
    };
    try {
      for (let round = 0; round < 15; round++) await Promise.all([0, 0, 1, 2].map((ms, n) => one(`${round}/${n}`, ms)));
    } finally {
      alive = false;
      await sweeping;
    }
    await sweep(server, blobs, Date.now());
    await keeps(server, nothing);
    await server.stop();
    await running.kill('SIGTERM');
  });
});
