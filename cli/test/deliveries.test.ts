import { expect, test } from 'bun:test';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { processClock } from '../process-context.ts';
import { Hook } from './hook.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { sceneOn } from './scene.ts';

onAnyEngine('deliveries', (engine) => {
  const server = serverFor(engine);

  /** A webhook for new messages, after this many. */
  async function delivered(count: number, answers: readonly Response[] = []) {
    const scene = await sceneOn(server());
    const hook = new Hook();
    hook.answers.push(...answers);
    const words = ['webhooks', 'create', hook.url, '--events', 'new_message', '--json'];
    const { webhook } = JSON.parse(await said(words, scene.env));
    for (let i = 1; i <= count; i++) await scene.send(`message ${i}`);
    const id = String(webhook.webhook_id);
    const list = async (...more: string[]) => {
      const page = JSON.parse(await said(['webhooks', 'deliveries', id, ...more, '--json'], scene.env));
      return page as { deliveries: { delivery_id: number; event_id: number; state: string }[]; next: number | null };
    };
    /** Waits until so many are in a state. */
    const settled = (state: string, expected = count) =>
      eventually(`${expected} ${state}`, async () => {
        const { deliveries } = await list('--state', state);
        return deliveries.length === expected && deliveries;
      });
    const stop = () => hook[Symbol.asyncDispose]();
    return { scene, env: scene.env, hook, id, list, settled, [Symbol.asyncDispose]: stop };
  }

  test('are a table in which the newest comes last, and continue on the next page', async () => {
    await using it = await delivered(3);
    const ids = (await it.settled('delivered')).map(({ delivery_id }) => delivery_id).reverse();
    const { stdout } = await parley(['webhooks', 'deliveries', it.id], it.env);
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^id +last attempt +state +event +chat +attempts +result$/);
    expect(rows.map((row) => Number(row.split(' ')[0]))).toEqual(ids);
    for (const row of rows) {
      expect(row).toMatch(/^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}delivered {2}new_message +\d+ +1 +204 in \d+ ms$/);
    }
    const page = await parley(['webhooks', 'deliveries', it.id, '--limit', '2'], it.env);
    expect(page.stderr).toBe(`There are more: --before ${ids[1]}\n`);
    const rest = await it.list('--before', String(ids[1]));
    expect(rest).toMatchObject({ deliveries: [{ delivery_id: ids[0] }], next: null });
  });

  test('are filtered by state, event, chat and time', async () => {
    await using it = await delivered(1);
    await it.settled('delivered');
    const chat = String(it.scene.chatId);
    const counts = await Promise.all(
      [
        ['--state', 'failed'],
        ['--event', 'user_left'],
        ['--chat', chat],
        ['--since', '1h'],
        ['--until', '1h'],
      ].map(async (words) => (await it.list(...words)).deliveries.length),
    );
    expect(counts).toEqual([0, 0, 1, 1, 0]);
    expect(await parley(['webhooks', 'deliveries', it.id, '--since', '0s'], it.env)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No deliveries.\n',
    });
  });

  test('are shown with every attempt, the response, advice and the exact body', async () => {
    await using it = await delivered(1, [new Response('out of\u001b[31m memory', { status: 500 })]);
    const [delivery] = await it.settled('retrying');
    const shown = await said(['webhooks', 'delivery', String(delivery?.delivery_id)], it.env);
    expect(shown).toMatch(/^state +retrying: failed so far, and will be retried\. The next attempt is at \d{4}-/m);
    expect(shown).toMatch(
      /^attempt 1 +\d{4}-.* {2}500 in \d+ ms\n +out of\\u\{1b\}\[31m memory\nadvice +The endpoint failed/m,
    );
    const body = new TextDecoder().decode(it.hook.received[0]?.body);
    expect(shown).toContain(`\nbody       ${body}\n`);
    const signature = it.hook.received[0]?.headers.get('webhook-signature');
    expect(shown).toMatch(/^headers +Content-Type: application\/json$/m);
    expect(shown).toContain(` webhook-signature: ${signature}\n`);
    expect(shown).toMatch(/^signed +\d+\.\d+\.\{"event":"new_message"/m);
    expect(await said(['webhooks', 'deliveries', it.id], it.env)).toMatch(/500 in \d+ ms, next at \d{4}-/);
  });

  test('that are open are due at once, or skipped', async () => {
    await using it = await delivered(2, [new Response(null, { status: 500 })]);
    const [first] = await it.settled('retrying', 1);
    const id = String(first?.delivery_id);
    expect(await said(['webhooks', 'redeliver', id], it.env)).toBe(`Delivery ${id} is due now.`);
    await it.settled('delivered');
    expect(await parley(['webhooks', 'skip', id], it.env)).toEqual(failed(1, 'This delivery is delivered already.'));
    it.hook.answers.push(new Response(null, { status: 500 }));
    await it.scene.send('third');
    const [third] = await it.settled('retrying', 1);
    const words = ['webhooks', 'skip', String(third?.delivery_id)];
    expect(await said(words, it.env)).toBe(`Skipped delivery ${third?.delivery_id}.`);
    expect(await said(['webhooks', 'deliveries', it.id, '--state', 'skipped'], it.env)).toContain(
      ', skipped by its owner',
    );
  });

  test('that are settled are sent once more, and the exit code has the result', async () => {
    await using it = await delivered(2);
    const [a, b] = (await it.settled('delivered')).map(({ delivery_id }) => String(delivery_id));
    if (!a || !b) throw new Error('there are no deliveries');
    it.hook.answers.push(new Response(null, { status: 404 }));
    const { code, stdout, stderr } = await parley(['webhooks', 'redeliver', a, b], it.env);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        new RegExp(`^Delivery ${a}: not delivered, 404 in \\d+ ms\\.\nDelivery ${b}: delivered, 204 in \\d+ ms\\.\n$`),
      ),
    });
    expect(stderr).toMatch(/^Not delivered: 1 of 2\. Check the path [^\n]*\n$/);
  });

  test('are replayed: counted first, then sent in order, with a progress on a terminal', async () => {
    await using it = await delivered(3);
    await it.settled('delivered');
    const replay = ['webhooks', 'replay', it.id];
    const to = `3 events to ${it.hook.url}`;
    for (const range of [
      ['--since', '1h'],
      ['--from', '1'],
    ]) {
      expect(await said([...replay, ...range, '--dry-run'], it.env)).toBe(`A replay would send ${to}.`);
    }
    const [, second] = (await it.list()).deliveries;
    const from = ['--from', String(second?.event_id), '--dry-run', '--json'];
    expect(await said([...replay, ...from], it.env)).toMatch(/^{"event_count":2,"is_exact":true,/);
    expect(it.hook.received).toHaveLength(3);
    const terminal = { env: it.env, stdin: 'y\n', isTerminal: true, clock: processClock };
    const { code, stdout, stderr } = await new RunningCommand([...replay, '--since', '1h'], terminal).end();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Replay \d+ is done: 3 delivered\.\n$/),
    });
    expect(stderr).toStartWith(`Send ${to} again? [y/N] `);
    expect(it.hook.contents).toEqual(['message 1', 'message 2', 'message 3', 'message 1', 'message 2', 'message 3']);
    expect(await said(['webhooks', 'replays', it.id], it.env)).toMatch(/ {2}done {4}\d+ to \d+ {2}all {3}3 delivered$/);
  });

  test('are replayed only if they were skipped, and nothing is nothing', async () => {
    await using it = await delivered(1, [new Response(null, { status: 500 })]);
    const [delivery] = await it.settled('retrying');
    const replay = ['webhooks', 'replay', it.id, '--since', '1h', '--yes'];
    expect(await said([...replay, '--only', 'failed'], it.env)).toBe('There are no such events to replay.');
    await said(['webhooks', 'skip', String(delivery?.delivery_id)], it.env);
    const { replay: done } = JSON.parse(await said([...replay, '--only', 'failed,skipped', '--json'], it.env));
    expect(done).toMatchObject({ status: 'done', only: ['failed', 'skipped'], delivered_count: 1 });
  });

  test('of a replay wait for a paused webhook, and Ctrl-C leaves a replay running', async () => {
    await using it = await delivered(1);
    await it.settled('delivered');
    await said(['webhooks', 'pause', it.id], it.env);
    const replay = ['webhooks', 'replay', it.id, '--from', '1', '--yes'];
    const held = await parley(replay, it.env);
    expect(held).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Started replay \d+\. See: npx parley webhooks replays \d+\n$/),
      stderr: `The webhook is paused. Start it: npx parley webhooks resume ${it.id}\n`,
    });
    it.hook.answers.push(...Array.from({ length: 50 }, () => new Response(null, { status: 500 })));
    await said(['webhooks', 'resume', it.id], it.env);
    const watching = new RunningCommand(replay, { env: it.env, clock: processClock });
    await eventually(
      'it watches',
      async () => (await said(['webhooks', 'replays', it.id], it.env)).split('running').length > 2,
    );
    await eventually('it handles the signal', () => watching.context.signal('SIGINT'));
    expect(await watching.status).toBe('SIGINT');
    expect(watching.stderr).toMatch(/^Replay \d+ continues on the server\. See: npx parley webhooks replays \d+\n$/);
    const [, replayId = ''] = /^Replay (\d+)/.exec(watching.stderr) ?? [];
    expect(await said(['webhooks', 'cancel', replayId], it.env)).toMatch(/^Replay \d+ is cancelled: 0 delivered/);
  });

  test('of a replay wait for an endpoint that is down, and the command says so once', async () => {
    const it = await delivered(2);
    await it.settled('delivered');
    await it[Symbol.asyncDispose]();
    const replay = ['webhooks', 'replay', it.id, '--from', '1', '--yes'];
    await using watching = new RunningCommand(replay, { env: it.env });
    await eventually('it says why', () => watching.stderr !== '');
    await watching.stop('SIGINT');
    expect(watching.stderr.split('\n')).toEqual([
      `The endpoint is down. The replay waits for it. Find out why: npx parley webhooks test ${it.id}`,
      expect.stringMatching(/^Replay \d+ continues on the server\./),
      '',
    ]);
  });
});
