import type { Client } from '../../server/test/support/client.ts';
import { attach, type TestServer } from '../../server/test/support/server.ts';
import { Child, type Environment } from '../harness/child.ts';
import { serverCore } from '../harness/machine.ts';
import { Server } from '../harness/server.ts';
import type { Racer } from './race.ts';

/** The text of a message: a sentence. */
export const content = 'The quarterly figures are in the shared folder; could you look at page 3 before noon?';

let flags: readonly string[] = [];

/** From now on every server under test writes a processor profile into the folder. */
export function profileInto(folder: string): void {
  flags = ['--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${folder}`];
}

/** A server under test, on the servers' core. */
export class Parley implements AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  /** Administers the server's database from beside it. */
  readonly admin: TestServer;
  readonly #server: Server;

  constructor(server: Server, admin: TestServer) {
    this.pid = server.pid;
    this.port = server.port;
    this.url = server.url;
    this.admin = admin;
    this.#server = server;
  }

  static async start(env: Environment, core = serverCore): Promise<Parley> {
    const server = await Server.start(env, { core, flags });
    return new Parley(server, await attach(server.url, { ...env }));
  }

  get engine() {
    return this.admin.engine;
  }

  user(name: string): Promise<Client> {
    return this.admin.user(name);
  }

  racer(requests: readonly Request[]): Racer {
    return { pid: this.pid, port: this.port, requests: requests.map(asText) };
  }

  /** Sends a request. Fails if the response is not a 200. */
  async fetch({ method, path, token, body }: Request): Promise<FixedResponse> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = body === undefined ? { method, headers } : { method, headers, body };
    const response = await fetch(`${this.url}${path}`, init);
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const { date: _, 'content-length': __, ...rest } = Object.fromEntries(response.headers);
    return { headers: rest, body: await response.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.stop();
    await this.#server.stop();
  }
}

/** A server to compare with, on the same core. Its file is in `bare/`, and reports its port. */
export class Baseline extends Child {
  port = 0;

  static async start(name: string, input: unknown = {}): Promise<Baseline> {
    const baseline = new Baseline(`proof/bench/bare/${name}.ts`, { input, core: serverCore });
    baseline.port = await baseline.line();
    return baseline;
  }

  /** Returns a racer that sends the same requests to this server. */
  like(racer: Racer): Racer {
    return { ...racer, pid: this.pid, port: this.port };
  }
}

/** Runs a file of `bare/` on the servers' core, and returns what it reports. */
export async function runBare<T>(name: string, input: unknown, env: Environment = {}): Promise<T> {
  await using child = new Child(`proof/bench/bare/${name}.ts`, { input, env, core: serverCore });
  return await child.line<T>();
}

/** A response without the headers that the runtime adds by itself. */
export interface FixedResponse {
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
