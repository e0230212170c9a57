import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { deleteApp } from '../../auth/apps.ts';
import { lockTokensOf } from '../../store/access/tokens.ts';
import type { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { lockWaits } from '../support/lock-waits.ts';
import {
  accessOf,
  askForTokens,
  authorizeApp,
  exchangeForm,
  expectFault,
  type Form,
  newApp,
  newCode,
  refreshForm,
  revoke,
  type TestApp,
  tokensIn,
  works,
} from '../support/oauth.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import type { Reply } from '../support/wire.ts';

type Url = Pick<TestServer, 'url'>;

/** Twenty times the same at once, spread over the servers. */
const twenty = (servers: readonly Url[], app: TestApp, form: Form): Promise<Reply[]> =>
  Promise.all(Array.from({ length: 20 }, (_, i) => askForTokens(servers[i % servers.length] as Url, app, form)));

/** One was given tokens, and the others were found to be the second: so what the one was given is revoked. */
async function expectOneWinner(servers: readonly Url[], replies: readonly Reply[]): Promise<void> {
  const [winner, ...more] = replies.filter(({ status }) => status === 200);
  expect({ winners: winner ? 1 + more.length : 0 }).toEqual({ winners: 1 });
  for (const { status, body } of replies) if (status !== 200) expect(body.error).toBe('invalid_grant');
  const { access } = tokensIn(winner as Reply);
  for (const server of servers) {
    await eventually('its token is revoked', async () => (await works(server, access)) === false || undefined);
  }
}

onAnyEngine('twenty exchanges at once', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let apps: TestApp[];
  beforeAll(async () => {
    ada = await server().user('ada');
    apps = [await newApp(server(), ada), await newApp(server(), ada, { confidential: true })];
  });

  test('of one code give tokens once', async () => {
    for (const app of apps) {
      const form = exchangeForm(await newCode(server(), app, ada));
      await expectOneWinner([server()], await twenty([server()], app, form));
    }
  });

  test('of one refresh token give tokens once', async () => {
    for (const app of apps) {
      const { refresh, access } = await authorizeApp(server(), app, ada);
      await expectOneWinner([server()], await twenty([server()], app, refreshForm(refresh)));
      expect(await works(server(), access)).toBe(false);
    }
  });

  test('of twenty codes give tokens twenty times', async () => {
    const [app] = apps as [TestApp];
    const forms: Form[] = [];
    for (let i = 0; i < 20; i++) forms.push(exchangeForm(await newCode(server(), app, ada)));
    const replies = await Promise.all(forms.map((form) => askForTokens(server(), app, form)));
    const tokens = new Set(replies.map((reply) => tokensIn(reply).access));
    expect(tokens.size).toBe(20);
  });
});

onAnyEngine('tokens that are asked for while', (engine) => {
  const server = serverFor(engine);
  let root: Client;
  let ada: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ada = await server().user('ada');
  });

  /** Whichever call was first, no token and no grant is left, also if the user is enabled again. */
  async function expectNothingLeft(...apps: readonly TestApp[]): Promise<void> {
    for (const { appId } of apps) {
      const left = await server().engine.all('SELECT token_id FROM tokens WHERE app_id = $1 AND revoked_at IS NULL', [
        appId,
      ]);
      expect(left).toEqual([]);
    }
  }
  const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => work(i)));

  test('their authorization is ended do not outlive it', async () => {
    const app = await newApp(server(), ada);
    const grants = await times(20, async () => {
      const first = await authorizeApp(server(), app, ada);
      return { first, second: tokensIn(await askForTokens(server(), app, refreshForm(first.refresh))) };
    });
    await Promise.all(
      grants.flatMap(({ first, second }) => [
        askForTokens(server(), app, refreshForm(second.refresh)),
        revoke(server(), app, first.refresh),
      ]),
    );
    await expectNothingLeft(app);
  });

  test('their app is deleted do not outlive it', async () => {
    const apps = await times(8, () => newApp(server(), ada, { confidential: true }));
    const owner = { userId: ada.userId as UserId, appId: 0, address: '127.0.0.1' };
    await Promise.all(
      apps.flatMap((app) => [
        times(4, () => askForTokens(server(), app, { grant_type: 'client_credentials' })),
        deleteApp(accessOf(server()), owner, app.appId),
      ]),
    );
    await expectNothingLeft(...apps);
  });

  test('their bot is disabled do not outlive it', async () => {
    const apps = await times(8, () => newApp(server(), ada, { confidential: true }));
    await Promise.all(
      apps.flatMap((app) => [
        times(4, () => askForTokens(server(), app, { grant_type: 'client_credentials' })),
        root.ok('users.disable', { user_id: app.botId ?? 0 }),
      ]),
    );
    await expectNothingLeft(...apps);
  });
});

onPostgres('an authorization that is half ended', () => {
  const server = serverFor('postgres');

  test('gives no more tokens: who asks for them waits until it is ended', async () => {
    const ada = await server().user('ada');
    const forms: ((app: TestApp) => Promise<Form>)[] = [
      async (app) => refreshForm((await authorizeApp(server(), app, ada)).refresh),
      async (app) => exchangeForm(await newCode(server(), app, ada)),
    ];
    for (const make of forms) {
      const app = await newApp(server(), ada);
      const form = await make(app);
      const asked = await server().engine.write(async (tx) => {
        await lockTokensOf(tx, ada.userId as UserId);
        await tx.run('UPDATE tokens SET revoked_at = 1 WHERE app_id = $1', [app.appId]);
        let isAnswered = false;
        const reply = askForTokens(server(), app, form).finally(() => {
          isAnswered = true;
        });
        await eventually('it waits', async () => isAnswered || (await lockWaits(tx)) > 0 || undefined);
        await tx.run('UPDATE grants SET revoked_at = 1 WHERE app_id = $1', [app.appId]);
        return { reply };
      });
      expectFault(await asked.reply, 'invalid_grant');
    }
  });
});

onPostgres('two servers on one database', () => {
  let servers: TestServer[];
  let ada: Client;
  let app: TestApp;
  beforeAll(async () => {
    const env = await freshEnvironment('postgres');
    const other = { ...env, PARLEY_DATA: (await freshEnvironment('sqlite')).PARLEY_DATA ?? '' };
    const key = { PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
    const first = await startServer({ ...env, ...key });
    servers = [first, await startServer({ ...other, ...key })];
    ada = await first.user('ada');
    app = await newApp(first, ada);
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.stop();
  });
  const first = () => servers[0] as TestServer;

  test('give tokens once for one code that both are given at the same time', async () => {
    const form = exchangeForm(await newCode(first(), app, ada));
    await expectOneWinner(servers, await twenty(servers, app, form));
  });

  test('give tokens once for one refresh token that both are given at the same time', async () => {
    const { refresh } = await authorizeApp(first(), app, ada);
    await expectOneWinner(servers, await twenty(servers, app, refreshForm(refresh)));
  });
});
