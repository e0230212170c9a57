import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { freshEnvironment, onAnyEngine } from '@parley/server/test/support/engines.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor, spawnServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import packageJson from '../package.json' with { type: 'json' };
import { MetricSamples } from '../status/metrics.ts';
import { Hook } from './hook.ts';
import { failed, parley, said } from './parley.ts';
import { ownServer, sceneOn } from './scene.ts';

onAnyEngine('status', (engine) => {
  const server = serverFor(engine);

  test('shows the server and the webhooks of the user', async () => {
    const scene = await sceneOn(server());
    const url = `http://127.0.0.1:${await freePort()}/hook`;
    const { webhook } = JSON.parse(await said(['webhooks', 'create', url, '--json'], scene.env));
    await said(['webhooks', 'pause', String(webhook.webhook_id)], scene.env);
    const shown = await said(['status'], scene.env);
    expect(shown).toMatch(/^server +http:\S+\nstatus +ready\ndatabase +responds, \d+ ms in all\nversion +\d/);
    // The index may not have read the events of the scene yet.
    expect(shown).toMatch(/^search +(?:up to date|\d+ events? behind)$/m);
    expect(shown).toMatch(/^backlog +no pending deliveries$/m);
    expect(shown).toMatch(new RegExp(`^signed in +${scene.names.ada} \\(id ${scene.ada.userId}\\)$`, 'm'));
    expect(shown).toMatch(/^webhooks +1 of yours, 1 paused$/m);
    expect(JSON.parse(await said(['status', '--json'], scene.env))).toMatchObject({
      server: server().url,
      ready: true,
      state: 'ready',
      version: packageJson.version,
      metrics: { open_streams: 0, search_lag_events: expect.any(Number) },
      user: { user_id: scene.ada.userId },
      webhooks: { count: 1, paused: 1, down: 0, disabled: 0 },
    });
  });

  test('counts the webhooks that fail, and what they have not delivered', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    hook.answers.push(...Array.from({ length: 20 }, () => new Response(null, { status: 500 })));
    const id = JSON.parse(await said(['webhooks', 'create', hook.url, '--json'], scene.env)).webhook.webhook_id;
    await scene.send('refused');
    const shown = await eventually('it fails', async () => {
      const text = await said(['status'], scene.env);
      return /^webhooks +1 of yours, 1 failing, the oldest undelivered event is /m.test(text) && text;
    });
    expect(shown).toMatch(/^backlog +1 pending delivery$/m);
    const { stdout, stderr } = await parley(['webhooks', 'list'], scene.env);
    expect(stdout).toMatch(new RegExp(`^${id} +failing: 500 +\\d+ s `, 'm'));
    expect(stderr).toBe(`What to do: npx parley webhooks show ${id}\n`);
    expect(await said(['webhooks', 'show', String(id)], scene.env)).toMatch(
      new RegExp(`^status +failing since .*\\. Try it now: npx parley webhooks test ${id}$`, 'm'),
    );
    await said(['webhooks', 'delete', String(id), '--yes'], scene.env);
  });

  test('needs no access, and says why a token does not work', async () => {
    const where = { PARLEY_URL: server().url };
    expect(await said(['status'], where)).toMatch(/^signed in +no$/m);
    const refused = await parley(['status', '--token', 'pat_wrong'], where);
    expect(refused.code).toBe(0);
    expect(refused.stdout).toMatch(/^signed in +no: This access token is unknown, expired or revoked\.$/m);
    const scene = await sceneOn(server());
    const reader = await server().token(scene.names.ada, ['messages:read']);
    const limited = JSON.parse(await said(['status', '--json', '--token', reader], where));
    expect(limited).toMatchObject({ ready: true, user: { name: scene.names.ada }, webhooks: null });
  });
});

/** A proxy as it is before a server that others reach. */
function proxyTo(target: string) {
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set('x-forwarded-for', '203.0.113.7');
      return fetch(`${target}${pathname}${search}`, { headers, decompress: false });
    },
  });
  return { url: proxy.url.href, [Symbol.asyncDispose]: () => proxy.stop(true) };
}

describe('status of a server', () => {
  test('that shows its metrics only with a token has the version from its API', async () => {
    await using own = await ownServer({ PARLEY_METRICS_TOKEN: 'metrics-of-this-server', TRUST_PROXY: '1' });
    await using proxy = proxyTo(own.server.url);
    const env = { PARLEY_URL: proxy.url };
    const without = JSON.parse(await said(['status', '--json'], env));
    expect(without).toMatchObject({ ready: true, version: packageJson.version, metrics: null });
    expect(await said(['status'], env)).toMatch(/^metrics +not shown to this machine \(PARLEY_METRICS_TOKEN\)$/m);
    const withToken = await said(['status', '--json'], { ...env, PARLEY_METRICS_TOKEN: 'metrics-of-this-server' });
    expect(JSON.parse(withToken).metrics).toMatchObject({ open_streams: 0 });
  });

  test('that backs itself up says when the last backup was made, and that one failed', async () => {
    const PARLEY_BACKUP_FOLDER = temporaryFolder();
    const shownBy = async (extra: Record<string, string>) => {
      await using own = await ownServer({ PARLEY_BACKUP_EVERY: '12h', ...extra });
      return await eventually('a backup was tried', async () => {
        const text = await said(['status'], { PARLEY_URL: own.server.url });
        return /^backup /m.test(text) && text;
      });
    };
    expect(await shownBy({ PARLEY_BACKUP_FOLDER })).toMatch(/^backup +the last one was made \d+ s ago$/m);
    // There cannot be a folder inside a file.
    const inside = join(PARLEY_BACKUP_FOLDER, readdirSync(PARLEY_BACKUP_FOLDER)[0] ?? '', 'backups');
    const failing = await shownBy({ PARLEY_BACKUP_FOLDER: inside });
    expect(failing).toMatch(/^backup +failed, none was made yet$/m);
    expect(failing).toMatch(/^status +ready, but the last scheduled backup failed: /m);
  });

  test('that is stopping is not ready: exit code 1', async () => {
    const running = await spawnServer({ ...(await freshEnvironment('sqlite')), PARLEY_STOP_DELAY: '60' });
    running.process.kill('SIGTERM');
    const env = { PARLEY_URL: running.url };
    const stopping = await eventually('it stops', async () => {
      const outcome = await parley(['status'], env);
      return outcome.code === 1 && outcome;
    });
    expect(stopping.stdout).toMatch(/^status +not ready: The server is stopping\.$/m);
    expect(stopping.stderr).toBe('The server is not ready. The server is stopping.\n');
    const json = await parley(['status', '--json'], env);
    expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({ code: 1, ready: false });
    await running.kill('SIGKILL');
  });

  test('that is not there, or is something else, is an error in one line', async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    expect(await parley(['status', '--url', away])).toEqual(failed(1, `Cannot reach Parley at ${away}: `));
    expect(await parley(['status', '--url', 'nonsense'])).toEqual(failed(1, 'The server URL must be like'));
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('Welcome to nginx!') });
    const { href } = other.url;
    expect(await parley(['status', '--url', href])).toEqual(failed(1, 'is not from Parley: HTTP 200.'));
    await other.stop(true);
  });
});

test('metrics are read as Prometheus writes them', () => {
  const samples = new MetricSamples(
    [
      '# HELP a_lag Lag.',
      'a_lag_bucket{le="0.1"} 98',
      'a_lag_bucket{le="1"} 100',
      'a_lag_bucket{le="+Inf"} 100',
      'a_lag_count 100',
      'info{version="1.2.3"} 1',
      'empty_count 0',
    ].join('\n'),
  );
  expect([samples.quantile('a_lag', 0.5), samples.quantile('a_lag', 0.99)]).toEqual([0.1, 1]);
  expect([samples.label('info', 'version'), samples.get('none'), samples.quantile('empty', 0.5)]).toEqual([
    '1.2.3',
    undefined,
    undefined,
  ]);
});
