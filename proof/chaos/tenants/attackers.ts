import type { Client } from '../../../server/test/support/client.ts';
import { inParallel } from '../../harness/stage.ts';
import { pause } from '../../harness/wait.ts';

/** An attacker. All responses to it are counted by their status. */
export interface Attack {
  readonly me: Client;
  /** My bots, or clients with tokens of the bot of my app. */
  readonly bots: readonly Client[];
  /** My preparations are done. Resolves when the attack begins. */
  begin(): Promise<void>;
  count(what: string, count?: number): void;
}

export interface Attacker {
  readonly summary: string;
  readonly bots?: number;
  /** Access tokens of the bot of an app, by client credentials. */
  readonly appTokens?: number;
  /** Never returns: the attack ends with its process. */
  readonly play: (attack: Attack) => Promise<void>;
}

/** The stream limit of the server. Two callers can open this many within their bursts. */
export const maxStreams = 200;

const hangMs = 14_500;
const dripMs = 15_000;

/** The delay before a call or a connection that was refused is repeated. */
const refusedMs = 50;
const againMs = 1_000;

const words = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ');
const form = 'a&'.repeat(2 ** 19 - 1);
const unknownKeys = JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 0])));

const send = ({ me }: Attack, chat_id: number, content = words) =>
  me.call('messages.send_message', { chat_id, content });

async function post({ me }: Attack, type: string, body: string): Promise<{ status: number }> {
  const headers = { authorization: `Bearer ${me.token}`, 'content-type': type };
  const response = await fetch(`${me.url}/api/messages.php?action=send_message`, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response;
}

async function tried(attack: Attack, call: Promise<{ readonly status: number }>): Promise<number> {
  const status = await call.then(
    (response) => response.status,
    () => 0,
  );
  attack.count(status === 0 ? 'broken' : String(status));
  return status;
}

/** Calls at this interval, whether or not the previous calls have a response. */
async function every(ms: number, attack: Attack, call: (n: number) => Promise<{ readonly status: number }>) {
  for (let n = 0; ; n++, await pause(ms)) void tried(attack, call(n));
}

/** Several workers call, each again as soon as it has a response. */
async function repeat(workers: number, attack: Attack, call: () => Promise<{ readonly status: number }>) {
  await inParallel(workers, Number.POSITIVE_INFINITY, async () => {
    const status = await tried(attack, call());
    if (status !== 200) await pause(refusedMs);
  });
}

/** Creates `count` things, or as many as the server accepts. */
async function create(
  { count }: Attack,
  wanted: number,
  what: string,
  make: (n: number) => Promise<{ readonly status: number }>,
): Promise<void> {
  let [made, isRefused] = [0, false];
  await inParallel(4, wanted, async (n) => {
    for (let status = 429; status === 429 && !isRefused; ) {
      ({ status } = await make(n));
      if (status === 200) made++;
      else if (status === 429) await pause(refusedMs);
      else isRefused = true;
    }
  });
  count(what, made);
}

async function createChats(attack: Attack, wanted: number): Promise<number[]> {
  const chats: number[] = [];
  await create(attack, wanted, 'chats', async (n) => {
    const answer = await attack.me.call('messages.create_group', { name: `Group ${n}`, participants: [] });
    if (answer.status === 200) chats.push(answer.body.group.chat_id);
    return answer;
  });
  return chats;
}

/** Opens an endpoint, and registers webhooks for it. Every webhook has a path of its own, or all have the same. */
async function createWebhooks(
  attack: Attack,
  wanted: number,
  path: (n: number) => string,
  delayMs: (path: string) => number,
) {
  const { port } = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    fetch: async (request) => {
      attack.count('deliveries');
      await pause(delayMs(new URL(request.url).pathname));
      return new Response();
    },
  });
  await create(attack, wanted, 'webhooks', (n) => {
    const url = `http://127.0.0.1:${port}/${path(n)}`;
    return attack.me.call('webhooks.register', { url, events: ['new_message'], secret: 'an attacker’s secret' });
  });
}

/** Holds a connection with a request that does not end. Connects again if it is refused or closed. */
async function hold({ count }: Attack, by: Client, head: string, drip: string): Promise<void> {
  const { hostname, port, host } = new URL(by.url);
  const [line, ...headers] = head.split('\n');
  const lines = [line, `Host: ${host}`, `Authorization: Bearer ${by.token}`, ...headers];
  for (; ; await pause(againMs)) {
    const closed = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (self, bytes) => {
          const status = /^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1', 0, 20))?.[1];
          if (status === undefined) return;
          count(status);
          if (status !== '200') self.end();
        },
        close: () => closed.resolve(),
        error: () => {},
      },
    }).catch(() => undefined);
    if (!socket) continue;
    count('opened');
    socket.write(`${lines.join('\r\n')}\r\n\r\n${drip}`);
    const dripping = setInterval(() => socket.write(drip), dripMs);
    await closed.promise;
    clearInterval(dripping);
    count('closed');
  }
}

const streamHead = 'GET /api/events.php?action=stream HTTP/1.1';
const uploadHead =
  'POST /api/files.php?action=upload&name=slow.bin HTTP/1.1\nContent-Type: application/octet-stream\nContent-Length: 1000000';

/** All attackers, by name. Each is another person. */
export const attackers: Readonly<Record<string, Attacker>> = {
  'hanging endpoints': {
    summary:
      '300 endpoints of one user, or as many as the server accepts, respond quickly three times, and then hang for 14.5 s',
    play: async (attack) => {
      const requests = new Map<string, number>();
      await createWebhooks(attack, 300, String, (path) => {
        const count = (requests.get(path) ?? 0) + 1;
        requests.set(path, count);
        return count > 3 ? hangMs : 0;
      });
      const chats = await createChats(attack, 10);
      await attack.begin();
      await every(500, attack, (n) => send(attack, chats[n % chats.length] ?? 0));
    },
  },
  'one URL': {
    summary: '1,000 webhooks to one URL, or as many as the server accepts, and a message a second',
    play: async (attack) => {
      await createWebhooks(
        attack,
        1_000,
        () => 'same',
        () => 0,
      );
      const [chat = 0] = await createChats(attack, 1);
      await attack.begin();
      await every(1_000, attack, () => send(attack, chat));
    },
  },
  'large messages': {
    summary: 'sends of 16 KB as fast as the limit allows',
    play: async (attack) => {
      const [chat = 0] = await createChats(attack, 1);
      const content = 'sixteen '.repeat(2_048);
      await attack.begin();
      await repeat(4, attack, () => send(attack, chat, content));
    },
  },
  forms: {
    summary: 'forms of 1 MB with 500,000 fields, three a second',
    play: async (attack) => {
      await attack.begin();
      await every(333, attack, () => post(attack, 'application/x-www-form-urlencoded', form));
    },
  },
  'unknown keys': {
    summary: 'JSON bodies with 80,000 unknown keys, three a second',
    play: async (attack) => {
      await attack.begin();
      await every(333, attack, () => post(attack, 'application/json', unknownKeys));
    },
  },
  searches: {
    summary: 'searches for 20 words in 300 chats, two at a time',
    play: async (attack) => {
      const chats = await createChats(attack, 300);
      await create(attack, chats.length, 'messages', (n) => send(attack, chats[n] ?? 0));
      await attack.begin();
      await repeat(2, attack, () => attack.me.call('messages.search_messages', { query: words }));
    },
  },
  'slow uploads': {
    summary: 'ten bots of one person, each with 20 uploads of one byte in 15 s',
    bots: 10,
    play: async (attack) => {
      await attack.begin();
      const by = attack.bots.flatMap((bot) => Array.from({ length: 20 }, () => bot));
      await Promise.all(by.map((bot) => hold(attack, bot, uploadHead, 'x')));
    },
  },
  streams: {
    summary: `a person and a bot open all ${maxStreams} streams of the server`,
    bots: 1,
    play: async (attack) => {
      await attack.begin();
      // More than half for each: whatever is freed is taken again.
      const by = [attack.me, ...attack.bots].flatMap((one) => Array.from({ length: maxStreams * 0.6 }, () => one));
      await Promise.all(by.map((one) => hold(attack, one, streamHead, '')));
    },
  },
  'many tokens': {
    summary: 'ten client-credentials tokens of one bot call as fast as they can',
    appTokens: 10,
    play: async (attack) => {
      await attack.begin();
      await Promise.all(
        attack.bots.map(async (token) => {
          for (;;) await tried(attack, token.call('users.me', {}));
        }),
      );
    },
  },
};
