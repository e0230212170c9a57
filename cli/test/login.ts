import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopeNames } from '@parley/contract';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Client } from '@parley/server/test/support/client.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';
import { authorizeApp, decide, nativeRedirect } from '@parley/server/test/support/oauth.ts';
import type { TestServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { type Credentials, CredentialsFile } from '../login/credentials.ts';
import type { Surroundings } from './context.ts';
import { RunningCommand } from './running-command.ts';

/** A running `parley login`, and what somebody does in a browser meanwhile. */
export class Login extends RunningCommand {
  address = new URL('about:blank');

  /** Starts it, and waits until it shows the address to open. */
  static async start(env: Environment, words: readonly string[] = ['--no-browser']): Promise<Login> {
    const login = new Login(['login', ...words], { env });
    const shown = await eventually('the address to open', () => /^(http:\S+)\n/m.exec(login.stderr)?.[1]);
    login.address = new URL(shown);
    return login;
  }

  get redirect(): string {
    return this.address.searchParams.get('redirect_uri') ?? '';
  }

  get state(): string {
    return this.address.searchParams.get('state') ?? '';
  }

  /** Returns the URL that the browser is redirected to after the decision. */
  async decided(server: TestServer, user: Client, allowed = true): Promise<URL> {
    return new URL(await decide(server, this.address.searchParams, user, { allowed }));
  }
}

/** A running `parley login` that shows a code. Its pauses last until the test releases them. */
export class DeviceLogin extends RunningCommand {
  address = new URL('about:blank');
  code = '';
  readonly clock: TestClock;

  constructor(words: readonly string[], clock: TestClock, surroundings: Surroundings) {
    super(['login', ...words], { ...surroundings, clock });
    this.clock = clock;
  }

  /** Starts it, and waits until it has shown the code and waits for the decision. */
  static async start(
    env: Environment,
    words: readonly string[] = ['--device'],
    surroundings: Surroundings = {},
  ): Promise<DeviceLogin> {
    const clock = new TestClock();
    clock.hold();
    const login = new DeviceLogin(words, clock, { ...surroundings, env });
    await eventually('it waits', () => clock.pausing > 0);
    const [, code = '', address = ''] = /enter the code (\S+):\n(\S+)\n/.exec(login.stderr) ?? [];
    login.code = code;
    login.address = new URL(address);
    return login;
  }
}

export interface SignedIn {
  readonly user: Client;
  readonly name: string;
  readonly env: Environment;
}

/** The environment of somebody who has never signed in. */
export const freshHome = (server: Pick<TestServer, 'url'>): Environment => ({
  PARLEY_URL: server.url,
  XDG_CONFIG_HOME: temporaryFolder(),
  XDG_STATE_HOME: temporaryFolder(),
});

let people = 0;

/** Somebody who has signed in; without the command, which most tests need not wait for. */
export async function signedIn(server: TestServer, address = server.url): Promise<SignedIn> {
  const name = `grace${++people}`;
  const user = await server.user(name);
  const env = freshHome({ url: address });
  const app = {
    appId: 1,
    clientId: 'parley-cli',
    secret: undefined,
    redirect: nativeRedirect,
    botId: null,
    owner: user,
  };
  const { access, refresh, scope } = await authorizeApp(server, app, user, { scopes: usualScopes });
  new CredentialsFile({ url: address }, env).save({
    user_id: user.userId,
    name,
    scopes: scope.split(' '),
    access_token: access,
    expires_at: Date.now() + 3_600_000,
    refresh_token: refresh,
  });
  return { user, name, env };
}

const usualScopes = scopeNames.filter((name) => name !== 'admin');

/** The same by the command. */
export async function signInAs(server: TestServer, user: Client, env: Environment, words: readonly string[] = []) {
  await using login = await Login.start(env, ['--no-browser', ...words]);
  await fetch(await login.decided(server, user));
  const { code, stderr } = await login.end();
  if (code !== 0) throw new Error(`login failed: ${stderr}`);
}

/** The file with what is kept, if there is one. */
export function keptFile(env: Environment): string | undefined {
  const folder = join(env.XDG_CONFIG_HOME ?? '', 'parley');
  const files = readdirSync(env.XDG_CONFIG_HOME ?? '').includes('parley') ? readdirSync(folder) : [];
  const name = files.find((file) => file.endsWith('.json'));
  return name && join(folder, name);
}

export function kept(env: Environment): Credentials {
  return JSON.parse(readFileSync(keptFile(env) ?? '', 'utf8'));
}

/** Changes what is kept, as time or trouble would. */
export function tamper(env: Environment, change: Partial<Credentials>): void {
  writeFileSync(keptFile(env) ?? '', JSON.stringify({ ...kept(env), ...change }));
}

export const past = 1_000;
export const future = 8_000_000_000_000;
