import { describe, expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { RateLimiter } from '../../http/rate-limit.ts';
import { RateSharing, type Total } from '../../http/rate-sharing.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { askForTokens, newApp, tokensIn, withToken } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onAnyEngine('the rate limit of a person', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/10' }, { now: () => now });

  /** Returns `count` tokens of the bot of an app of this person. */
  async function botTokens(owner: Client, count: number): Promise<Client[]> {
    const app = await newApp(server(), owner, { confidential: true });
    const clients: Client[] = [];
    for (let i = 0; i < count; i++) {
      now += 1_000;
      const { access } = tokensIn(await askForTokens(server(), app, { grant_type: 'client_credentials' }));
      clients.push(withToken(server(), access));
    }
    now += 60_000;
    return clients;
  }

  /** Makes `count` calls with each, and returns how many succeed. */
  async function successes(clients: readonly Client[], count: number): Promise<number> {
    let succeeded = 0;
    for (const client of clients) {
      for (let i = 0; i < count; i++) if ((await client.call('users.me', {})).status === 200) succeeded++;
    }
    return succeeded;
  }

  test('counts all tokens of a bot together with those of its owner, and nobody else', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const bots = await botTokens(ada, 6);
    expect(await successes(bots, 10)).toBe(40);
    const refused = await ada.call('users.me', {});
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-limit')).toBe('40');
    expect(await successes([bob], 10)).toBe(10);
    now += 1_000;
    expect(await successes(bots, 4)).toBe(20);
  });

  test('does not count requests that the limit of a token refuses', async () => {
    const { ada } = await users(server(), 'ada');
    const bots = await botTokens(ada, 3);
    expect(await successes([ada], 60)).toBe(10);
    expect(await successes(bots, 10)).toBe(30);
  });

  test('is in the headers once it leaves fewer requests than that of the token', async () => {
    const { ada } = await users(server(), 'ada');
    const bots = await botTokens(ada, 4);
    const shown = async (client: Client) => {
      const { headers } = await client.call('users.me', {});
      return ['limit', 'remaining'].map((name) => headers.get(`ratelimit-${name}`));
    };
    expect(await shown(ada)).toEqual(['10', '9']);
    await successes(bots.slice(0, 3), 10);
    await successes(bots.slice(3), 5);
    expect(await shown(ada)).toEqual(['40', '3']);
  });
});

onAnyEngine('the access tokens of a grant', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, {}, { now: () => now });

  test('are at most 50: a further one revokes the oldest', async () => {
    const { ada } = await users(server(), 'ada');
    const app = await newApp(server(), ada, { confidential: true });
    const tokens: Client[] = [];
    for (let i = 0; i < 52; i++) {
      const { access } = tokensIn(await askForTokens(server(), app, { grant_type: 'client_credentials' }));
      tokens.push(withToken(server(), access));
    }
    now += 2_000;
    const statuses = await Promise.all(tokens.map(async (client) => (await client.call('users.me', {})).status));
    expect(statuses).toEqual([401, 401, ...Array.from({ length: 50 }, () => 200)]);
  });
});

describe('servers that share limits', () => {
  test('charge a person for requests to the others, apart from the token with the same id', async () => {
    const rows: (Total & { node: string })[] = [];
    let now = 0;
    const [one, other] = ['one', 'other'].map((node) => {
      const limits = {
        callers: new RateLimiter({ perSecond: 5, burst: 10 }, () => now),
        owners: new RateLimiter({ perSecond: 20, burst: 40 }, () => now),
      };
      const totals = {
        write: async (given: readonly Total[]) => void rows.push(...given.map((total) => ({ ...total, node }))),
        readOthers: async () => rows.filter((row) => row.node !== node),
        prune: async () => {},
      };
      return { limits, sharing: new RateSharing({ limits, totals, now: () => now }) };
    });
    if (!one || !other) throw new Error('there are two');
    const exchange = async () => {
      for (const { sharing } of [one, other]) await sharing.exchange();
    };
    for (const { limits } of [one, other]) limits.callers.take(1);
    await exchange();
    for (let i = 0; i < 30; i++) one.limits.owners.take(7);
    now += 1_000;
    await exchange();
    expect(other.limits.owners.peek(7).remaining).toBe(10);
    expect(other.limits.callers.peek(7).remaining).toBe(10);
  });
});

describe('the setting of the limit of a person', () => {
  test('is four times that of a token by default, or its own', () => {
    expect(readSettings({}).ownerRateLimit).toBe('auto');
    expect(readSettings({ PARLEY_OWNER_RATE_LIMIT: '7/9' }).ownerRateLimit).toEqual({ perSecond: 7, burst: 9 });
    expect(readSettings({ PARLEY_OWNER_RATE_LIMIT: 'off' }).ownerRateLimit).toBeUndefined();
  });
});
