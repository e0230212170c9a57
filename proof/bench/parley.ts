import { addUser, issueToken, type Tools } from '../../server/auth/administer.ts';
import { openTools } from '../../server/compose/tools.ts';
import { readSettings } from '../../server/config.ts';
import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import { Client } from '../../server/test/support/client.ts';
import { freePort } from '../../server/test/support/postgres.ts';
import { type Child, type startOnSecondCore, startOnServerCore, untilHealthy } from './machine.ts';
import type { Racer } from './race.ts';

/** What people write: a sentence. */
export const content = 'The quarterly figures are in the shared folder; could you look at page 3 before noon?';

/** A server under test, in a process of its own on the servers' core. */
export class ParleyUnderTest implements AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly #child: Child;
  /** Undefined: its data folder holds it. */
  readonly databaseUrl: string | undefined;
  readonly #tools: Tools;

  constructor(child: Child, port: number, tools: Tools, databaseUrl: string | undefined) {
    this.pid = child.pid;
    this.port = port;
    this.#child = child;
    this.databaseUrl = databaseUrl;
    this.#tools = tools;
  }

  /** The database beside the server, to fill it and to look at what became of it. */
  get engine() {
    return this.#tools.engine;
  }

  async user(name: string): Promise<Client> {
    const { user_id } = await addUser(this.#tools, { name, isAdmin: false });
    const { accessToken } = await issueToken(this.#tools, { userName: name, name: 'bench' });
    return new Client(`http://127.0.0.1:${this.port}`, accessToken, user_id);
  }

  racer(requests: readonly Request[]): Racer {
    return { pid: this.pid, port: this.port, requests: requests.map(asText) };
  }

  /** What the server answers to a request, head and body. */
  async answer({ method, path, token, body }: Request): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = body === undefined ? { method, headers } : { method, headers, body };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, init);
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const { date: _, 'content-length': __, ...rest } = Object.fromEntries(response.headers);
    return { headers: rest, body: await response.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close();
    await this.#child[Symbol.asyncDispose]();
  }
}

export const freshEnvironment = (databaseUrl?: string): Record<string, string> => ({
  HOST: '127.0.0.1',
  PARLEY_DATA: temporaryFolder(),
  PARLEY_RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
  ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
});

let profiling: readonly string[] = [];

/** From now on every server under test writes where its time went into this folder as it ends. */
export function profileInto(folder: string): void {
  profiling = ['--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${folder}`];
}

export async function startParley(
  env: Readonly<Record<string, string>>,
  start: typeof startOnSecondCore = startOnServerCore,
): Promise<ParleyUnderTest> {
  const port = await freePort();
  const child = start([...profiling, 'server/main.ts'], { ...env, PORT: String(port) });
  await untilHealthy(child, port);
  return new ParleyUnderTest(child, port, await openTools(readSettings(env)), env.DATABASE_URL);
}

/** The baseline: a process on the same core that answers every request with these bytes. */
export async function startBare(answer: Answer): Promise<Child & { readonly port: number }> {
  const port = await freePort();
  const file = `${temporaryFolder()}/answer`;
  await Bun.write(file, JSON.stringify(answer));
  const child = startOnServerCore(['proof/bench/bare/server.ts'], { PORT: String(port), ANSWER: file });
  await untilHealthy(child, port);
  return { ...child, port };
}

/** The runtime adds its date and the length by itself. */
export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string;
  readonly body?: string;
}

export const sendMessage = (sender: Client, chatId: number): Request => ({
  method: 'POST',
  path: '/api/messages.php?action=send_message',
  token: sender.token,
  body: JSON.stringify({ chat_id: chatId, content }),
});

export const get = (reader: Client, resource: string, query: Readonly<Record<string, string>>): Request => ({
  method: 'GET',
  path: `/api/${resource}.php?${new URLSearchParams(query)}`,
  token: reader.token,
});

export const getMessages = (reader: Client, chatId: number, bounds: Record<string, string> = {}): Request =>
  get(reader, 'messages', { action: 'get_messages', chat_id: String(chatId), limit: '50', ...bounds });

export const searchMessages = (reader: Client, query: string, within: Record<string, string> = {}): Request =>
  get(reader, 'messages', { action: 'search_messages', query, limit: '50', ...within });

function asText({ method, path, token, body }: Request): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
