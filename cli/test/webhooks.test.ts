import { describe, expect, test } from 'bun:test';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { adviceOn } from '../webhooks/attempt-text.ts';
import { Hook, signaturesOf } from './hook.ts';
import { signedIn } from './login.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { type Scene, sceneOn } from './scene.ts';

/** Registers a webhook, and returns its id as a word. */
async function created({ env }: Scene, url: string, ...words: string[]): Promise<string> {
  const { webhook } = JSON.parse(await said(['webhooks', 'create', url, ...words, '--json'], env));
  return String(webhook.webhook_id);
}

/** Runs a command at a terminal where somebody types. */
const typing = (answer: string, words: readonly string[], env: Scene['env']) =>
  new RunningCommand(words, { env: { ...env, NO_COLOR: '1' }, stdin: answer, isTerminal: true });

onAnyEngine('webhooks', (engine) => {
  const server = serverFor(engine);

  test('are created with a secret that is shown once, and signs the deliveries', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    expect(await parley(['webhooks', 'list'], scene.env)).toEqual({ code: 0, stdout: '', stderr: 'No webhooks.\n' });
    const made = await parley(['webhooks', 'create', hook.url], scene.env);
    const [, id = '', secret = ''] = /^webhook_id=(\d+)\nsecret=([0-9a-f]{64})\n$/.exec(made.stdout) ?? [];
    expect(made.stderr).toBe(`The secret is shown only once.\nTest it: npx parley webhooks test ${id}\n`);
    await scene.send('hello');
    const [received] = await hook.gets(1);
    if (!received) throw new Error('nothing was received');
    expect(received.headers.get('x-webhook-signature')).toBe(signaturesOf(received, secret)['x-webhook-signature']);
    const shown = await Promise.all(['list', 'show'].map((word) => parley(['webhooks', word, id], scene.env)));
    expect(JSON.stringify(shown)).not.toContain(secret);
  });

  test('are listed in pages, and shown one by one', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const first = await created(scene, hook.url);
    const only = ['--events', 'new_message,user_left', '--chat', String(scene.chatId)];
    const second = await created(scene, hook.url, ...only);
    const rows = (await said(['webhooks', 'list'], scene.env)).split('\n').map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ['id', 'status', 'behind', 'chat', 'URL', 'events'],
      [first, 'active', '-', 'all', hook.url, 'all'],
      [second, 'active', '-', String(scene.chatId), hook.url, 'new_message,user_left'],
    ]);
    const page = await parley(['webhooks', 'list', '--limit', '1'], scene.env);
    expect(page.stderr).toBe(`There are more: --after ${first}\n`);
    expect(await said(['webhooks', 'list', '--after', first], scene.env)).toContain(`\n${second} `);
    expect(await said(['webhooks', 'show', second], scene.env)).toMatch(
      new RegExp(`^chats +Launch 🚀 \\(${scene.chatId}\\)$`, 'm'),
    );
  });

  test('of a login are its own: the empty list says how to see the others', async () => {
    const { env, name } = await signedIn(server());
    await using hook = new Hook();
    const token = ['--token', await server().token(name)];
    await said(['webhooks', 'create', hook.url, ...token], env);
    const empty = await parley(['webhooks', 'list'], env);
    expect(empty.stderr).toBe('No webhooks. To see those of access tokens and of the browser, set PARLEY_TOKEN.\n');
    await said(['webhooks', 'create', hook.url], env);
    expect((await said(['webhooks', 'list'], env)).split('\n')).toHaveLength(2);
    expect((await said(['webhooks', 'list', ...token], env)).split('\n')).toHaveLength(2);
  });

  test('warn about what is probably a mistake, and do not repeat a given secret', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const words = ['webhooks', 'create', hook.url, '--events', 'new_mesage', '--secret-stdin'];
    const { code, stdout, stderr } = await parley(words, scene.env, 'short\n');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^webhook_id=\d+\n$/) });
    expect(stderr).toMatch(/^Warning: events\[0\]: new_mesage .*did you mean new_message\?\nWarning: secret: /);
  });

  test('are tested: the exit code says whether the endpoint accepts the event', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const id = await created(scene, hook.url);
    expect(await said(['webhooks', 'test', id], scene.env)).toMatch(/^Delivered: 204 in \d+ ms\.$/);
    expect(await said(['webhooks', 'test', id, '--event', 'reaction_added'], scene.env)).toStartWith('Delivered: 204');
    expect(hook.received.at(-1)?.headers.get('x-webhook-event')).toBe('reaction_added');
    hook.answers.push(new Response('bad\u001b[31m signature\n', { status: 401 }));
    const refused = await parley(['webhooks', 'test', id], scene.env);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({
      code: 1,
      stdout: `Response:\n  bad${String.raw`\u{1b}`}[31m signature\n  \n`,
    });
    expect(refused.stderr).toMatch(/^Not delivered: 401 in \d+ ms\. The endpoint rejects [^\n]* current secret\.\n$/);
    hook.answers.push(new Response(null, { status: 500 }));
    const json = await parley(['webhooks', 'test', id, '--json'], scene.env);
    expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({ code: 1, delivered: false });
  });

  test('say why they are down, and what to do', async () => {
    const scene = await sceneOn(server());
    const id = await created(scene, `http://127.0.0.1:${await freePort()}/hook`);
    await scene.send('hello');
    const shown = await eventually('the failure', async () => {
      const text = await said(['webhooks', 'show', id], scene.env);
      return text.includes('last error') && text.includes('down since') && text;
    });
    expect(shown).toMatch(new RegExp(`^status +down since .* Try it now: npx parley webhooks test ${id}$`, 'm'));
    expect(shown).toMatch(/^last error +connection refused after \d+ ms\. See: npx parley webhooks delivery \d+$/m);
    expect(shown).toMatch(/^advice +Nothing listens there\./m);
    expect(await said(['webhooks', 'list'], scene.env)).toMatch(
      new RegExp(`^${id} +down: connection refused +\\d+ s `, 'm'),
    );
  });

  test('are paused, changed and resumed: events wait', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const id = await created(scene, `http://127.0.0.1:${await freePort()}/hook`);
    expect(await said(['webhooks', 'pause', id], scene.env)).toBe(
      `Paused webhook ${id}. Events wait until: npx parley webhooks resume ${id}`,
    );
    await scene.send('waits');
    expect(await said(['webhooks', 'update', id, '--new-url', hook.url, '--events', 'new_message'], scene.env)).toBe(
      `Webhook ${id}: ${hook.url}, events: new_message.`,
    );
    expect(await said(['webhooks', 'show', id], scene.env)).toMatch(/^status +paused\. Events wait until: /m);
    expect(hook.received).toEqual([]);
    await eventually('the event waits', async () => {
      const { webhook } = JSON.parse(await said(['webhooks', 'show', id, '--json'], scene.env));
      return webhook.oldest_undelivered_age !== null;
    });
    expect(await said(['webhooks', 'resume', id], scene.env)).toBe(
      `Webhook ${id} is active. The events that waited are delivered now, in order.`,
    );
    await hook.gets(1);
    expect(hook.contents).toEqual(['waits']);
  });

  test('get another secret: it is shown once, and signs at once', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const id = await created(scene, hook.url);
    const { code, stdout, stderr } = await parley(['webhooks', 'rotate', id, '--yes'], scene.env);
    const [, secret = ''] = /^secret=([0-9a-f]{64})\n$/.exec(stdout) ?? [];
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^The secret is shown only once\.\nwebhook-signature also has .* until \d{4}-.*\n$/,
      ),
    });
    await said(['webhooks', 'test', id], scene.env);
    const [received] = hook.received;
    if (!received) throw new Error('nothing was received');
    expect(received.headers.get('x-webhook-signature')).toBe(signaturesOf(received, secret)['x-webhook-signature']);
    const words = ['webhooks', 'rotate', id, '--yes', '--secret-stdin'];
    expect(await said(words, scene.env, 'another secret of mine')).toBe(`Rotated the secret of webhook ${id}.`);
  });

  test('are deleted, rotated and replayed only after a yes', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const id = await created(scene, hook.url);
    for (const words of [
      ['rotate', id],
      ['delete', id],
      ['replay', id, '--from', '1'],
    ]) {
      expect(await parley(['webhooks', ...words], scene.env)).toEqual(failed(2, 'Give --yes: there is no terminal'));
      const no = await typing('\n', ['webhooks', ...words], scene.env).end();
      expect(no).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/\? \[y\/N\] Nothing was changed\.\n$/),
      });
    }
    const yes = await typing('y\n', ['webhooks', 'delete', id], scene.env).end();
    expect(yes).toEqual({
      code: 0,
      stdout: `Deleted webhook ${id}.\n`,
      stderr: `Delete webhook ${id} (${hook.url})? [y/N] `,
    });
    expect(await said(['webhooks', 'list', '--json'], scene.env)).toBe('{"webhooks":[],"has_more":false}');
  });

  test('of others, unknown ids and missing scopes are refused in one line', async () => {
    const scene = await sceneOn(server());
    const other = await sceneOn(server());
    await using hook = new Hook();
    const id = await created(other, hook.url);
    const reader = { ...scene.env, PARLEY_TOKEN: await server().token(scene.names.ada, ['messages:read']) };
    const writer = { ...scene.env, PARLEY_TOKEN: await server().token(scene.names.ada, ['webhooks']) };
    const calls = ['show', 'test', 'pause', 'resume', 'deliveries', 'replays'].map((word) => [word, id]);
    for (const words of [...calls, ['rotate', id, '--yes'], ['delete', id, '--yes'], ['replay', id, '--from', '1']]) {
      expect(await parley(['webhooks', ...words], scene.env)).toEqual(failed(1, 'You have no such webhook.'));
      expect(await parley(['webhooks', ...words], reader)).toEqual(failed(1, 'lacks the scope webhooks'));
    }
    for (const word of ['delivery', 'redeliver', 'skip']) {
      expect(await parley(['webhooks', word, '999999'], scene.env)).toEqual(failed(1, 'You have no such delivery.'));
    }
    expect(await parley(['webhooks', 'create', hook.url], writer)).toEqual(failed(1, 'lacks the scope messages:read'));
    expect(await parley(['webhooks', 'create', 'http://10.0.0.1/'], scene.env)).toEqual(failed(1, 'url: '));
    expect(await parley(['webhooks', 'create', hook.url, '--secret', 'whsec_abc'], scene.env)).toEqual(
      failed(1, 'secret: must not begin with whsec_'),
    );
  });
});

describe('a wrong command line', () => {
  test.each([
    [['create'], '<URL> is missing.'],
    [['create', 'localhost'], '<URL> must be a URL such as http://localhost:3000/hook, not "localhost".'],
    [['create', 'http://localhost', '--events', 'a,,b'], '--events must be a list such as a,b'],
    [['show', 'first'], '<webhook id> must be a whole number from 1, not "first".'],
    [['update', '1'], 'Give --new-url, --events or both.'],
    [['redeliver'], '<delivery id> is missing.'],
    [['skip'], '<delivery id> is missing.'],
    [['deliveries', '1', '--state', 'faild'], 'There is no state "faild". Did you mean failed?'],
    [
      ['deliveries', '1', '--since', 'tomorrow'],
      '--since must be an age such as 30s, 15m, 2h or 7d, or a time such as',
    ],
    [['test', '1', '--event', 'nosuch'], '--event must be one of new_message, '],
    [['test', '1', '--event', 'new_message', '--event-id', '3'], 'Give either --event or --event-id.'],
    [['replay', '1'], 'Give either --since or --from.'],
    [['replay', '1', '--since', '1h', '--from', '3'], 'Give either --since or --from.'],
    [['replay', '1', '--from', '1', '--only', 'delivered'], '--only must be failed, skipped or failed,skipped, not'],
    [['replays'], '<webhook id> is missing.'],
  ])('is refused: parley webhooks %p', async (words, line) => {
    expect(await parley(['webhooks', ...words])).toEqual(failed(2, line));
  });
});

test.each([
  [302, 'redirect', 'Redirects are not followed.'],
  [403, 'status', 'current secret'],
  [404, 'status', 'Check the path'],
  [422, 'status', 'Its own log'],
  [503, 'status', 'The endpoint failed.'],
  [null, 'dns', 'Check the host name'],
  [null, 'timeout', 'within 15 seconds'],
  [null, 'tls', 'certificate'],
] as const)('a failure has advice: %p %p', (status, cause, advice) => {
  expect(adviceOn({ status, cause })).toContain(advice);
});
