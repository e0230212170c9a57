import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildContract, defaultLimits } from '@parley/contract';
import { verifyWebhook } from '@parley-chat/sdk/webhook';
import { deliveryHeaders } from '../../webhooks/headers.ts';
import { retryPolicy } from '../../webhooks/retry-policy.ts';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { describeUnless, optionalProgram, requireProgram } from '../support/requirements.ts';

const root = join(import.meta.dir, '../../..');
const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const fileOf = (name: string) => join(root, 'examples/receivers', name);

const secret = 'ein Schlüssel ✓';

interface Receiver {
  readonly name: string;
  readonly program: string;
  /** With CI set it must be there. */
  readonly required: boolean;
  /** Returns the command that starts it. Building it may take a while. */
  readonly command: () => Promise<string[]>;
}

async function build(command: string[], output: string): Promise<string> {
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe' });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(complaint);
  return output;
}

const receivers: readonly Receiver[] = [
  {
    name: 'TypeScript in Bun',
    program: process.execPath,
    required: true,
    command: async () => [process.execPath, fileOf('receiver.ts')],
  },
  {
    name: 'TypeScript in Node',
    program: 'node',
    required: true,
    command: async () => {
      const output = join(temporaryFolder(), 'receiver.mjs');
      const options = ['--target=node', '--conditions=bun', `--outfile=${output}`];
      const bun = [process.execPath, 'build', fileOf('receiver.ts'), ...options];
      return ['node', await build(bun, output)];
    },
  },
  {
    name: 'Python',
    program: 'python3',
    required: true,
    command: async () => ['python3', fileOf('receiver.py')],
  },
  {
    name: 'PHP',
    program: 'php',
    required: true,
    command: async () => ['php', '-S', '127.0.0.1:0', fileOf('receiver.php')],
  },
  {
    name: 'Go',
    program: 'go',
    required: false,
    command: async () => {
      const output = join(temporaryFolder(), 'receiver');
      return [await build(['go', 'build', '-o', output, fileOf('receiver.go')], output)];
    },
  },
];

/** A receiver in a process of its own, whose every word is kept. */
class Running {
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  /** Apart, since one stream may begin to speak in the middle of the other's line. */
  readonly #said = { stdout: '', stderr: '' };
  readonly #listening: Promise<unknown>;
  url = '';

  constructor(command: readonly string[]) {
    this.#child = Bun.spawn([...command], {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0', TMPDIR: temporaryFolder() },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(this.#child);
    this.#listening = Promise.all([this.#listen('stdout'), this.#listen('stderr')]);
  }

  async #listen(stream: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of this.#child[stream]) this.#said[stream] += decoder.decode(part, { stream: true });
  }

  get #all(): string {
    return `${this.#said.stdout}\n${this.#said.stderr}`;
  }

  async ready(): Promise<void> {
    this.url = await eventually('the receiver says where it listens', async () => {
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.#all}`);
      return /http:\/\/127\.0\.0\.1:\d+/.exec(this.#all)?.[0];
    });
  }

  /** How often an event was printed. */
  printed(id: string): number {
    return [...this.#all.matchAll(new RegExp(`(?<![\\w/:.])${id} new_message \\{`, 'g'))].length;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
    await this.#listening;
  }
}

const body = '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"content":"שלום 👋\\n"}}';

interface Posted {
  readonly id: string;
  readonly secrets?: readonly [string, ...string[]];
  readonly secondsAgo?: number;
  readonly text?: string;
  /** The text that is sent in place of the signed one. */
  readonly sent?: string;
  readonly change?: Record<string, string | undefined>;
  readonly attempt?: number;
}

/** Posts a delivery as the server would, and answers the status. */
async function post(url: string, posted: Posted): Promise<number> {
  const { id, secrets = [secret], secondsAgo = 0, text = body, attempt = 1 } = posted;
  const at = Date.now() - secondsAgo * 1_000;
  const headers = {
    ...deliveryHeaders({ id, body: text, at, secrets, event: 'new_message', attempt, webhookId: 1, version: '0' }),
    ...posted.change,
  };
  const present = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await fetch(`${url}/hook`, { method: 'POST', body: posted.sent ?? text, headers: present });
  await response.arrayBuffer();
  return response.status;
}

for (const receiver of receivers) {
  const missing = receiver.required ? requireProgram(receiver.program) : optionalProgram(receiver.program);

  describeUnless(missing, `the receiver in ${receiver.name}`, () => {
    let running: Running | undefined;
    let ids = 100;
    const nextId = () => String(++ids);
    const subject = () => {
      if (!running) throw new Error('the receiver has not been started');
      return running;
    };
    // Go compiles its whole library the first time.
    beforeAll(async () => {
      running = new Running(await receiver.command());
      await running.ready();
    }, 300_000);
    afterAll(() => running?.stop());

    const send = (posted: Posted) => post(subject().url, posted);

    test('listens only on the address that it prints', async () => {
      await expect(fetch(subject().url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    });

    /** Sends a good one, and waits until it is printed: then everything before it would have been printed too. */
    async function settle(): Promise<void> {
      const id = nextId();
      expect(await send({ id })).toBe(200);
      await eventually(`${id} is printed`, async () => (subject().printed(id) === 1 ? true : undefined));
    }

    test('accepts and prints a delivery', async () => {
      const id = nextId();
      expect(await send({ id })).toBe(200);
      await eventually('it is printed', async () => (subject().printed(id) === 1 ? true : undefined));
    });

    test('accepts the same id again, and prints it once', async () => {
      const id = nextId();
      expect(await send({ id })).toBe(200);
      expect(await send({ id, attempt: 2 })).toBe(200);
      expect(await send({ id, attempt: 3, change: { 'X-Webhook-Id': nextId() } })).toBe(200);
      await settle();
      expect(subject().printed(id)).toBe(1);
    });

    test('prints one of forty that arrive at once', async () => {
      const id = nextId();
      const statuses = await Promise.all(Array.from({ length: 40 }, () => send({ id })));
      expect(statuses).toEqual(Array.from({ length: 40 }, () => 200));
      await settle();
      expect(subject().printed(id)).toBe(1);
    });

    test('accepts both secrets of a rotation', async () => {
      expect(await send({ id: nextId(), secrets: ['another', secret] })).toBe(200);
      expect(await send({ id: nextId(), secrets: [secret, 'another'] })).toBe(200);
    });

    test('accepts an attempt of four minutes ago, and one of four minutes ahead', async () => {
      expect(await send({ id: nextId(), secondsAgo: 240 })).toBe(200);
      expect(await send({ id: nextId(), secondsAgo: -240 })).toBe(200);
    });

    const forgeries: readonly [what: string, forged: Omit<Posted, 'id'>][] = [
      ['a changed body', { sent: body.replace('שלום', 'שלומ') }],
      ['a longer body', { sent: `${body} ` }],
      ['an empty body', { sent: '' }],
      ['another secret', { secrets: ['another'] }],
      ['two other secrets', { secrets: ['another', 'a third'] }],
      ['an empty secret', { secrets: [''] }],
      ['an attempt of six minutes ago', { secondsAgo: 360 }],
      ['an attempt in six minutes', { secondsAgo: -360 }],
      ['another time', { change: { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 100) } }],
      ['a time in words', { change: { 'webhook-timestamp': 'now' } }],
      ['a time without end', { change: { 'webhook-timestamp': '9'.repeat(5_000) } }],
      ['another id', { change: { 'webhook-id': '99' } }],
      ['no id', { change: { 'webhook-id': undefined } }],
      ['no signature', { change: { 'webhook-signature': undefined } }],
      ['an empty signature', { change: { 'webhook-signature': '' } }],
      ['a signature without a version', { change: { 'webhook-signature': 'x' } }],
      ['a signature that is not ASCII', { change: { 'webhook-signature': 'v1,é' } }],
      ['a version alone', { change: { 'webhook-signature': 'v1,' } }],
      [
        "the body's signature alone",
        { change: { 'webhook-id': undefined, 'webhook-timestamp': undefined, 'webhook-signature': undefined } },
      ],
    ];

    test.each([...forgeries])('responds with 401 to %s, and prints nothing', async (_, forged) => {
      const id = nextId();
      expect(await send({ id, ...forged })).toBe(401);
      await settle();
      expect([subject().printed(id), subject().printed('99'), subject().printed('')]).toEqual([0, 0, 0]);
    });

    test('takes a body of nearly 1 MiB, and refuses a larger one', async () => {
      const filled = (length: number) =>
        body.replace('\\n', 'x'.repeat(length - new TextEncoder().encode(body).length + 2));
      const [small, large] = [nextId(), nextId()];
      expect(await send({ id: small, text: filled(1_048_576) })).toBe(200);
      // One that has not read all may close the connection before its answer is seen.
      expect(await send({ id: large, text: filled(1_048_577) }).catch(() => 413)).toBe(413);
      await settle();
      expect([subject().printed(small), subject().printed(large)]).toEqual([1, 0]);
    });

    test('accepts only POST', async () => {
      const response = await fetch(`${subject().url}/hook`);
      expect([405, 501]).toContain(response.status);
    });

    test('does not start, or accepts nothing, without a secret', async () => {
      const child = Bun.spawn(await receiver.command(), {
        env: { ...process.env, WEBHOOK_SECRET: '', PORT: '0', TMPDIR: temporaryFolder() },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      });
      endWithUs(child);
      let said = '';
      let status: number | undefined;
      for await (const part of child.stderr) {
        said += new TextDecoder().decode(part);
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (url && status === undefined) {
          status = await post(url, { id: '1', secrets: [''] });
          child.kill('SIGKILL');
        }
      }
      expect(said).toContain('WEBHOOK_SECRET is not set');
      expect(status ?? 500).toBe(500);
      expect(await child.exited).not.toBe(0);
    });
  });
}

describe('the page about webhooks', () => {
  const blocksOf = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

  test.each([
    ['ts', 'receiver.ts'],
    ['python', 'receiver.py'],
    ['php', 'receiver.php'],
    ['go', 'receiver.go'],
  ])('shows, in %s, exactly the text of %s', (language, file) => {
    expect(page).toContain(`(../examples/receivers/${file})`);
    expect(blocksOf(language)).toContain(readFileSync(fileOf(file), 'utf8'));
  });

  test('shows a delivery as the server signs it', async () => {
    const [example = ''] = blocksOf('http');
    const [head = '', text = ''] = example.trimEnd().split('\n\n');
    const [, , ...lines] = head.split('\n');
    const { 'User-Agent': agent, ...shown } = Object.fromEntries(
      lines.map((line) => line.split(': ') as [string, string]),
    );
    const at = Number(shown['webhook-timestamp']) * 1_000;
    const { 'User-Agent': _, ...signed } = deliveryHeaders({
      id: '7',
      body: text,
      at,
      secrets: ['a secret of yours'],
      event: 'new_message',
      attempt: 1,
      webhookId: 1,
      version: '0',
    });
    expect(agent).toMatch(/^Parley-Webhooks\//);
    expect(shown).toEqual(signed);
    expect((await verifyWebhook(text, shown, 'a secret of yours', { now: () => at })).event).toBe('new_message');
  });

  test('names the times at which the server tries again', () => {
    const units = [
      [3_600_000, 'h'],
      [60_000, 'min'],
      [1_000, 's'],
    ] as const;
    const told = (ms: number) => {
      const [size, unit] = units.find(([size]) => ms >= size) ?? [1, 'ms'];
      return `${ms / size} ${unit}`;
    };
    const { refused, down, jitter } = retryPolicy;
    expect(page).toContain(`after ${refused.map(told).join(', ')} (each ±${jitter * 100}%)`);
    expect(page).toContain(`after ${down.slice(0, -1).map(told).join(', ')}, then every ${told(down.at(-1) ?? 0)}`);
  });

  test('calls every operation on webhooks, with fields that it has', () => {
    const calls = blocksOf('sh').flatMap((block) => block.replaceAll('\\\n', ' ').match(/^curl .*$/gm) ?? []);
    const named = calls.map((call) => {
      const query = new URLSearchParams(/\?([^"]*)"/.exec(call)?.[1]);
      const data = [...call.matchAll(/(?:-d|--data-urlencode) ('[^']*'|\S+)/g)].map(([, word = '']) =>
        word.replace(/^'|'$/g, ''),
      );
      const fields = data.flatMap((word) =>
        word.startsWith('{') ? Object.keys(JSON.parse(word)) : word.slice(0, word.indexOf('=')).replace(/\[\]$/, ''),
      );
      const asked = [...query.keys()].filter((key) => key !== 'action');
      return { action: query.get('action'), method: data.length > 0 ? 'POST' : 'GET', fields: [...fields, ...asked] };
    });
    expect(named.length).toBeGreaterThan(12);
    const rows = Object.entries(buildContract(defaultLimits).webhooks);
    for (const { action, method, fields } of named) {
      const [, row] = rows.find(([name]) => name === action) ?? [];
      if (!row) throw new Error(`there is no action ${action}`);
      expect<string>(row.method).toBe(method);
      const known = Object.keys(row.input.shape);
      for (const field of fields) expect(known).toContain(field);
    }
    const shown = new Set(named.map(({ action }) => action));
    expect(rows.map(([name]) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  test('asks for a limit of the body that holds the largest event of the default settings', () => {
    // Two texts in one event, every byte of them written as an escape of six.
    expect(2 * 6 * defaultLimits.contentBytes).toBeLessThan(1_048_576 / 2);
  });
});
