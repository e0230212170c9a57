import { addBot, addUser } from '../../../server/auth/administer.ts';
import { goodPassword } from '../../../server/test/support/browser-like.ts';
import { Client } from '../../../server/test/support/client.ts';
import type { EngineName } from '../../../server/test/support/engines.ts';
import { askForTokens, newApp, tokensIn } from '../../../server/test/support/oauth.ts';
import { startPostgres } from '../../../server/test/support/postgres.ts';
import { attach, type TestServer } from '../../../server/test/support/server.ts';
import { Child } from '../../harness/child.ts';
import { Server } from '../../harness/server.ts';
import { environment } from '../../harness/stage.ts';
import { pause } from '../../harness/wait.ts';
import type { AttackCounts, Attacks } from './attack.ts';
import { type Attacker, attackers, maxStreams } from './attackers.ts';
import { disable, makeOrdinary } from './ordinary.ts';
import type { Result } from './verdict.ts';

export interface TenantsOptions {
  readonly engine: EngineName;
  /** Of the attack. The time without it is three quarters as long. */
  readonly seconds: number;
  /** The core of the server. */
  readonly core?: number;
}

/** The attacker whom the administrator disables, and when: late, so that it attacks for most of the time. */
const disabled = 'large messages';
const disabledAfter = 0.75;

const admin = 'grace';

/** Lets all attackers loose on a server with its default limits, beside a person who works before and during the attack. */
export async function playTenants({ engine, seconds, core }: TenantsOptions): Promise<Result> {
  await using ends = new AsyncDisposableStack();
  const errors: string[] = [];
  const onLine = (line: string) => {
    if (line.includes('"level":"error"')) errors.push(line);
  };
  const env = environment({
    ...(engine === 'postgres' && { DATABASE_URL: await startDatabase(ends) }),
    // Empty values are defaults.
    PARLEY_RATE_LIMIT: '',
    PARLEY_WEBHOOK_LIMIT: '',
    PARLEY_MESSAGES_PER_DAY: '',
    PARLEY_STREAM_LIMIT: String(maxStreams),
    PARLEY_WEBHOOK_NETWORKS: '127.0.0.0/8',
    LOG_FORMAT: 'json',
  });
  const server = await Server.start(env, { core, onLine });
  // A stop would wait for the deliveries that hang.
  ends.defer(() => server.kill());
  const service = await attach(server.url, env);
  ends.defer(() => service.stop());

  await addUser(service.tools, { name: admin, isAdmin: true, password: goodPassword });
  const bystander = await service.user('bystander');
  const work = await makeOrdinary(await service.user('ada'), ends);
  const accounts: Record<string, Attacks['accounts'][string]> = {};
  for (const [name, attacker] of Object.entries(attackers))
    accounts[name] = await makeAccounts(service, name, attacker);
  const input: Attacks = { url: server.url, accounts };
  const attack = ends.use(new Child('proof/chaos/tenants/attack.ts', { input }));
  await attack.line();

  const phase = async (phaseSeconds: number, target: Client) => {
    const disabling = pause(phaseSeconds * disabledAfter * 1_000).then(() => disable(server.url, admin, target));
    return { ...(await work(phaseSeconds)), disableMs: await disabling };
  };
  const without = await phase(seconds * 0.75, bystander);
  process.kill(attack.pid, 'SIGUSR2');
  const { token = '', userId = 0 } = accounts[disabled]?.me ?? {};
  const during = await phase(seconds, new Client(server.url, token, userId));
  await attack.kill('SIGTERM');
  const attacks = await attack.line<AttackCounts>();
  server.check();
  return { without, during, attacks, errors };
}

async function startDatabase(ends: AsyncDisposableStack): Promise<string> {
  const postgres = await startPostgres({ fsync: true });
  ends.defer(() => postgres.stop('immediate'));
  return postgres.emptyDatabase();
}

/** Makes the person behind an attacker, and their bots or the tokens of their app. */
async function makeAccounts(service: TestServer, title: string, { bots = 0, appTokens = 0 }: Attacker) {
  const name = `attacker-${title.toLowerCase().replaceAll(' ', '-')}`;
  const me = await service.user(name);
  const accounts: { token: string; userId: number }[] = [];
  for (let i = 0; i < bots; i++) {
    const bot = await addBot(service.tools, { name: `${name}-${i}`, ownerName: name });
    accounts.push({ token: await service.token(bot.name), userId: bot.user_id });
  }
  const app = appTokens > 0 ? await newApp(service, me, { confidential: true }) : undefined;
  for (let i = 0; app && i < appTokens; i++) {
    const { access } = tokensIn(await askForTokens(service, app, { grant_type: 'client_credentials' }));
    accounts.push({ token: access, userId: app.botId ?? 0 });
  }
  return { me, bots: accounts };
}
