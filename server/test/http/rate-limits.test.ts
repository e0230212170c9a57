import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { type Allowance, type RateLimit, RateLimiter } from '../../http/rate-limit.ts';
import { RateSharing, type SharedTotals } from '../../http/rate-sharing.ts';
import { RecentMap } from '../../lib/recent-map.ts';
import { pruneRateUses, readOthersRateUses, writeRateUses } from '../../store/access/rate-uses.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { openStore } from '../../store/engine/open.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { expectRefusal, request } from '../support/wire.ts';

describe('a map of recent entries', () => {
  test('keeps an entry for the minimum time, and drops it by three times that', () => {
    for (const setAt of [0, 1, 50, 99, 100, 101, 199]) {
      for (const setAgainAfter of [undefined, 30, 99]) {
        const map = new RecentMap<string, number>(100);
        map.set('other', 0, 0);
        map.set('x', 1, setAt);
        const last = setAt + (setAgainAfter ?? 0);
        if (setAgainAfter !== undefined) map.set('x', 2, last);
        expect(map.get('x', last + 99)).toBe(setAgainAfter === undefined ? 1 : 2);
        expect(map.get('x', last + 300)).toBeUndefined();
      }
    }
  });

  test('drops an entry also if nobody reads it', () => {
    const map = new RecentMap<string, number>(100);
    map.set('x', 1, 50);
    expect(map.get('x', 100_000)).toBeUndefined();
  });
});

/** How many of so many requests at once are let through. */
const admitted = (limiter: RateLimiter, caller: number | string, requests: number): number =>
  Array.from({ length: requests }, () => limiter.take(caller)).filter(({ allowed }) => allowed).length;

describe('a caller with requests to other servers', () => {
  let now = 0;
  const limited = (limit: RateLimit) => {
    now = 0;
    return new RateLimiter(limit, () => now);
  };
  const told = ({ allowed, remaining, resetSeconds, retrySeconds }: Allowance) => ({
    allowed,
    remaining,
    resetSeconds,
    retrySeconds,
  });

  test('has fewer requests left', () => {
    const limiter = limited({ perSecond: 5, burst: 10 });
    limiter.charge('x', 7);
    expect(admitted(limiter, 'x', 20)).toBe(3);
    expect(admitted(limiter, 'y', 20)).toBe(10);
  });

  test('may get into debt, which shows no negative numbers and must be waited off', () => {
    const limiter = limited({ perSecond: 5, burst: 10 });
    limiter.charge('x', 25);
    expect(told(limiter.peek('x'))).toEqual({ allowed: false, remaining: 0, resetSeconds: 5, retrySeconds: 4 });
    now = 3_199;
    expect(limiter.peek('x').allowed).toBe(false);
    now = 3_200;
    expect(admitted(limiter, 'x', 20)).toBe(1);
  });

  test('gets a debt of at most the burst, or four seconds of requests if that is more', () => {
    const deep = limited({ perSecond: 5, burst: 100 });
    deep.charge('x', 1_000_000);
    now = 20_000;
    expect(deep.peek('x').allowed).toBe(false);
    now = 20_200;
    expect(deep.peek('x').allowed).toBe(true);
    const shallow = limited({ perSecond: 50, burst: 1 });
    shallow.charge('x', 1_000_000);
    now = 4_000;
    expect(shallow.peek('x').allowed).toBe(false);
    now = 4_020;
    expect(shallow.peek('x').allowed).toBe(true);
  });

  test('pays its debt only with time, also while it is idle', () => {
    for (let quiet = 500; quiet < 9_000; quiet += 500) {
      const limiter = limited({ perSecond: 10, burst: 40 });
      limiter.take('other');
      now = 3_900;
      limiter.charge('x', 1_000);
      for (; now < 3_900 + quiet; now += 100) limiter.take('other');
      expect(admitted(limiter, 'x', 100)).toBe(Math.max(0, Math.min(40, quiet / 100 - 40)));
    }
  });
});

onAnyEngine('the shared totals', (engine) => {
  let store: Engine;
  beforeAll(async () => {
    store = await openStore(readSettings(await freshEnvironment(engine)), Date.now);
  });
  afterAll(() => store.close());

  test('are read by other servers: the latest recent total per server and key', async () => {
    await writeRateUses(store, 'a', [
      { key: 'token 1', used: 3 },
      { key: '203.0.113.9', used: 4 },
    ]);
    await writeRateUses(store, 'a', [{ key: 'token 1', used: 5 }]);
    await writeRateUses(store, 'b', [{ key: 'token 1', used: 2 ** 40 }]);
    const hour = 3_600_000;
    const read = async (node: string, withinMs: number) =>
      (await readOthersRateUses(store, node, withinMs)).map((row) => `${row.node} ${row.key}: ${row.used}`).sort();
    expect(await read('b', hour)).toEqual(['a 203.0.113.9: 4', 'a token 1: 5']);
    expect(await read('a', hour)).toEqual([`b token 1: ${2 ** 40}`]);
    expect((await read('c', 3 * hour)).length).toBe(3);
    await store.run(`UPDATE rate_uses SET at = at - ${2 * hour} WHERE key = 'token 1'`);
    expect(await read('c', hour)).toEqual(['a 203.0.113.9: 4']);
    await pruneRateUses(store, hour);
    expect(await read('c', 3 * hour)).toEqual(['a 203.0.113.9: 4']);
  });
});

onPostgres('processes that share a database', () => {
  let store: Engine;
  let now = 1_000_000;
  beforeAll(async () => {
    store = await openStore(readSettings(await freshEnvironment('postgres')), Date.now);
  });
  afterAll(() => store.close());

  let made = 0;
  /** A process as far as limits go, and how often it has asked the database for anything. */
  function node(limit: RateLimit) {
    const name = `node ${++made}`;
    const limiter = new RateLimiter(limit, () => now);
    const asked = { writes: 0, reads: 0, prunings: 0 };
    const totals: SharedTotals = {
      write: (given) => {
        asked.writes++;
        return writeRateUses(store, name, given);
      },
      readOthers: (withinMs) => {
        asked.reads++;
        // The database has a clock of its own, by which a slow machine would make things old.
        return readOthersRateUses(store, name, withinMs + 3_600_000);
      },
      prune: (afterMs) => {
        asked.prunings++;
        return pruneRateUses(store, afterMs);
      },
    };
    return {
      limiter,
      asked,
      sharing: new RateSharing({ limits: { callers: limiter, owners: undefined }, totals, now: () => now }),
    };
  }
  type Node = ReturnType<typeof node>;

  async function nodes(count: number, limit: RateLimit): Promise<Node[]> {
    await store.run('DELETE FROM rate_uses');
    return Array.from({ length: count }, () => node(limit));
  }

  /** Seconds in which a caller asks each process as often as it can, and how much it is let through. */
  async function hammer(among: readonly Node[], seconds: number, caller: number | string = 7): Promise<number> {
    let through = 0;
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      now += 100;
      for (const { limiter } of among) through += admitted(limiter, caller, 50);
      if (tenth % 10 === 9) for (const { sharing } of among) await sharing.exchange();
    }
    return through;
  }

  const limits: [number, number][] = [
    [50, 200],
    [50, 5],
    [4, 8],
    [100, 100],
  ];
  test.each(limits)(
    'let a caller through all of them together about as often as one: %d/%d',
    async (perSecond, burst) => {
      const among = await nodes(3, { perSecond, burst });
      await hammer(among, 10);
      const seconds = 30;
      const share = (await hammer(among, seconds)) / (seconds * perSecond);
      expect(share).toBeGreaterThan(0.8);
      expect(share).toBeLessThan(1.25);
    },
  );

  test('do not limit a caller below its limit, however it spreads its requests', async () => {
    const among = await nodes(2, { perSecond: 50, burst: 100 });
    for (let second = 0; second < 20; second++) {
      now += 1_000;
      for (const { limiter } of among) expect(admitted(limiter, 7, 24)).toBe(24);
      for (const { sharing } of among) await sharing.exchange();
    }
  });

  test('do not limit it if a server starts late or was idle', async () => {
    const limit = { perSecond: 50, burst: 60 };
    const [first, idle] = await nodes(2, limit);
    if (!first || !idle) throw new Error('there are two');
    const second = async (among: readonly Node[], each: number) => {
      now += 1_000;
      for (const { limiter } of among) expect(admitted(limiter, 7, each)).toBe(each);
      for (const { sharing } of [first, idle]) await sharing.exchange();
    };
    for (let i = 0; i < 100; i++) await second([first], 40);
    expect(idle.asked.reads).toBe(0);
    for (let i = 0; i < 5; i++) await second([first, idle], 24);
    const late = node(limit);
    for (let i = 0; i < 5; i++) {
      await second([first, late], 24);
      await late.sharing.exchange();
    }
    // By now it is charged with what the caller does elsewhere: a second's worth does not leave the whole burst.
    expect(late.limiter.peek(7).remaining).toBeLessThan(60 - 24);
  });

  test('count IPs and tokens separately', async () => {
    const [one, other] = await nodes(2, { perSecond: 5, burst: 10 });
    if (!one || !other) throw new Error('there are two');
    await hammer([one, other], 1, 'somebody else');
    admitted(one.limiter, '203.0.113.9', 10);
    admitted(one.limiter, 5, 4);
    now += 1_000;
    for (const { sharing } of [one, other]) await sharing.exchange();
    const left = (caller: number | string) => other.limiter.peek(caller).remaining;
    expect([left('203.0.113.9'), left(5), left(9), left('5'), left('token 5')]).toEqual([0, 6, 10, 10, 10]);
  });

  test('do not use the database for callers with few requests', async () => {
    const [quiet] = await nodes(1, { perSecond: 50, burst: 200 });
    if (!quiet) throw new Error('there is one');
    for (let second = 0; second < 10; second++) {
      now += 1_000;
      for (let caller = 1; caller <= 20; caller++) admitted(quiet.limiter, caller, 4);
      await quiet.sharing.exchange();
    }
    expect(quiet.asked).toEqual({ writes: 0, reads: 0, prunings: 0 });
    admitted(quiet.limiter, 3, 5);
    now += 1_000;
    await quiet.sharing.exchange();
    expect(quiet.asked).toEqual({ writes: 1, reads: 1, prunings: 1 });
    expect(await store.all('SELECT key, used FROM rate_uses')).toEqual([{ key: 'token 3', used: 5 }]);
  });

  test('write and read once per second, however many callers there are', async () => {
    const [busy] = await nodes(1, { perSecond: 10, burst: 20 });
    if (!busy) throw new Error('there is one');
    for (let second = 0; second < 5; second++) {
      now += 1_000;
      for (let caller = 1; caller <= 300; caller++) busy.limiter.take(caller);
      await busy.sharing.exchange();
    }
    expect(busy.asked).toEqual({ writes: 5, reads: 5, prunings: 1 });
    const rows = await store.all<{ used: number }>('SELECT used FROM rate_uses');
    expect([rows.length, rows[0]?.used]).toEqual([300, 5]);
  });

  test('drop totals that are older than a minute', async () => {
    const [one] = await nodes(1, { perSecond: 5, burst: 10 });
    if (!one) throw new Error('there is one');
    await writeRateUses(store, 'gone', [
      { key: 'token 1', used: 3 },
      { key: 'token 2', used: 3 },
    ]);
    await store.run(`UPDATE rate_uses SET at = at - 61000 WHERE key = 'token 1'`);
    await hammer([one], 1, 4);
    const keys = await store.all<{ key: string }>('SELECT key FROM rate_uses ORDER BY key');
    expect(keys.map(({ key }) => key)).toEqual(['token 2', 'token 4']);
  });

  test('do not charge a caller later for totals that were not shared in time', async () => {
    const limit = { perSecond: 50, burst: 100 };
    const among = await nodes(2, limit);
    const [one, other] = among;
    if (!one || !other) throw new Error('there are two');
    const second = async (isThere: boolean) => {
      now += 1_000;
      for (const { limiter } of among) expect(admitted(limiter, 7, 24)).toBe(24);
      for (const { sharing } of among) {
        const exchanged = sharing.exchange();
        if (isThere) await exchanged;
        else await expect(exchanged).rejects.toThrow();
      }
    };
    for (let i = 0; i < 3; i++) await second(true);
    await store.run('ALTER TABLE rate_uses RENAME TO hidden');
    for (let i = 0; i < 30; i++) await second(false);
    await store.run('ALTER TABLE hidden RENAME TO rate_uses');
    for (let i = 0; i < 10; i++) await second(true);
    expect(one.limiter.peek(7).remaining).toBeGreaterThan(40);
    // Nor where the database has kept one of them waiting.
    for (let i = 0; i < 30; i++) {
      now += 1_000;
      admitted(one.limiter, 7, 24);
      await other.sharing.exchange();
    }
    for (let i = 0; i < 10; i++) await second(true);
  });

  test('treat a smaller total as a new count', async () => {
    const [one] = await nodes(1, { perSecond: 5, burst: 10 });
    if (!one) throw new Error('there is one');
    const left: number[] = [];
    for (const used of [100, 103, 200, 2, 6]) {
      await writeRateUses(store, 'another', [{ key: 'token 7', used }]);
      await hammer([one], 1, 'somebody else');
      left.push(one.limiter.peek(7).remaining);
    }
    expect(left).toEqual([10, 7, 0, 0, 0]);
    now += 4_000;
    expect(one.limiter.peek(7).remaining).toBe(-20 + 5 + 5 - 4 + 20);
  });
});

onPostgres('two servers on one database', () => {
  test('charge a caller that uses both for its requests to the other', async () => {
    const burst = 100_000;
    const env = { ...(await freshEnvironment('postgres')), PARLEY_RATE_LIMIT: `1/${burst}` };
    // The clock stands still, so that nothing comes back.
    const runtime = { now: () => 0 };
    const servers = [await startServer(env, runtime), await startServer(env, runtime)];
    const ada = await servers[0]?.user('ada');
    const clients = servers.map(({ url }) => new Client(url, ada?.token ?? '', ada?.userId ?? 0));
    let calls = 0;
    const charged = await eventually('both have charged it', async () => {
      calls++;
      const answers = await Promise.all(clients.map((client) => client.call('users.me', {})));
      const uses = answers.map(({ headers }) => burst - Number(headers.get('ratelimit-remaining')));
      return uses.every((used) => used > calls) ? uses : undefined;
    });
    for (const server of servers) await server.stop();
    for (const used of charged) expect(used).toBeLessThanOrEqual(2 * calls);
  });

  test('keep serving if they cannot share', async () => {
    const env = { ...(await freshEnvironment('postgres')), PARLEY_RATE_LIMIT: '20/40', LOG_LEVEL: 'warn' };
    let said = '';
    const print = (text: string) => {
      said += text;
    };
    const server = await startServer(env, { print });
    const ada = await server.user('ada');
    await server.engine.run('DROP TABLE rate_uses');
    const statuses = new Set<number>();
    await eventually('it is in the log', async () => {
      for (let i = 0; i < 5; i++) statuses.add((await ada.call('users.me', {})).status);
      return said.includes('"job":"rate_limits"') || undefined;
    });
    statuses.add((await ada.call('users.me', {})).status);
    await server.stop();
    expect([...statuses].filter((status) => status !== 429)).toEqual([200]);
    expect(said).toContain('rate_uses');
  });
});

onAnyEngine('an IP that has used up its limit with bad tokens', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '1/10' }, { now: () => now });
  const me = (token: string) =>
    request(`${server().url}/api/users.php?action=me`, { headers: { authorization: `Bearer ${token}` } });
  const useUp = async () => {
    for (let i = 0; i < 12; i++) await me(`nobody's ${i}`);
  };

  test('causes no more lookups: a good token that is not cached is rejected too', async () => {
    now += 60_000;
    const { ada } = await users(server(), 'ada');
    await useUp();
    const refused = await me(ada.token);
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(refused.headers.get('ratelimit-limit')).toBe('10');
    now += 1_000;
    expect((await me(ada.token)).status).toBe(200);
  });

  test('does not block a token that was valid before', async () => {
    now += 60_000;
    const { ada } = await users(server(), 'ada');
    expect((await me(ada.token)).status).toBe(200);
    now += 3_600_000;
    await useUp();
    expectRefusal(await me('another'), 'rate_limited');
    expect((await me(ada.token)).status).toBe(200);
    now += 5_000;
    await useUp();
    expect((await me(ada.token)).status).toBe(200);
  });

  test('blocks a token that was valid before once it is revoked', async () => {
    now += 60_000;
    const { ada } = await users(server(), 'ada');
    const made = await ada.ok('tokens.create', { name: 'for a while' });
    expect((await me(made.access_token)).status).toBe(200);
    await ada.ok('tokens.revoke', { token_id: made.token.token_id });
    await useUp();
    expectRefusal(await me(made.access_token), 'rate_limited');
  });

  test('has a limit separate from those of its tokens', async () => {
    now += 60_000;
    const { ada, bob } = await users(server(), 'ada', 'bob');
    expect((await me(bob.token)).status).toBe(200);
    for (let i = 0; i < 12; i++) await me(ada.token);
    expectRefusal(await me(ada.token), 'rate_limited');
    expect((await me(bob.token)).status).toBe(200);
    expectRefusal(await me('nobody'), 'unauthorized');
  });
});
