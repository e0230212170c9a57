import { afterAll, beforeAll } from 'bun:test';
import { join } from 'node:path';
import type { Scope } from '@parley/contract';
import type { Subprocess } from 'bun';
import { addUser, issueToken, type Tools } from '../../auth/administer.ts';
import { openTools } from '../../compose/tools.ts';
import { type Parley, processRuntime, type Runtime, startParley } from '../../compose.ts';
import { readSettings } from '../../config.ts';
import { endWithUs } from './cleanup.ts';
import { Client } from './client.ts';
import { type EngineName, type Environment, freshEnvironment, spareMigrating } from './engines.ts';

/** Clocks that stand still, so that no limit refills and nothing expires however long a test takes. */
export function standingStill(): Pick<Runtime, 'now' | 'monotonic'> {
  const at = Date.now();
  return { now: () => at, monotonic: () => 0 };
}

/** A running server, with helpers to create users. */
export class TestServer {
  readonly url: string;
  readonly env: Environment;
  /** The tools of the command line, on the same database. */
  readonly tools: Tools;
  readonly #stop: () => Promise<void>;

  constructor(url: string, env: Environment, tools: Tools, stop: () => Promise<void>) {
    this.url = url;
    this.env = env;
    this.tools = tools;
    this.#stop = stop;
  }

  get engine() {
    return this.tools.engine;
  }

  /** Creates a user with a token for all scopes. */
  async user(name: string, options: { admin?: boolean; displayName?: string } = {}): Promise<Client> {
    const user = await addUser(this.tools, {
      name,
      displayName: options.displayName,
      isAdmin: options.admin ?? false,
    });
    return new Client(this.url, await this.token(name), user.user_id);
  }

  async token(userName: string, scopes?: readonly Scope[]): Promise<string> {
    return (await issueToken(this.tools, { userName, name: 'first', scopes })).accessToken;
  }

  async stop(): Promise<void> {
    await this.tools.engine.close();
    await this.#stop();
  }
}

/** Starts a server in this process. */
export async function startServer(env: Environment, runtime: Partial<Runtime> = {}): Promise<TestServer> {
  await spareMigrating(env);
  const parley: Parley = await startParley(readSettings(env), { ...processRuntime, ...runtime });
  return new TestServer(parley.url, env, await openTools(readSettings(env)), () => parley.stop());
}

/** Starts a server for all tests of a suite. */
export function serverFor(
  engine: EngineName,
  extra: Environment = {},
  runtime: Partial<Runtime> = {},
): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer({ ...(await freshEnvironment(engine)), ...extra }, runtime);
  });
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error('the server has not been started yet');
    return server;
  };
}

/** Starts a server in a process of its own, for tests that kill it. */
export interface ServerProcess {
  readonly url: string;
  readonly process: Subprocess;
  kill(signal: NodeJS.Signals): Promise<number>;
}

const mainFile = join(import.meta.dir, '../../main.ts');

/**
 * `log` is the file of its log. It has the lines of a request before the response arrives. `main` is that of a copy of the
 * source.
 */
export async function spawnServer(env: Environment, log = '/dev/null', main = mainFile): Promise<ServerProcess> {
  const child = Bun.spawn([process.execPath, main], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: Bun.file(log),
    stderr: 'pipe',
  });
  endWithUs(child);
  return {
    url: await listeningUrl(child.stderr),
    process: child,
    kill: (signal) => {
      child.kill(signal);
      return child.exited;
    },
  };
}

/** Returns the URL that a server prints when it listens. Throws if the output ends before. */
export async function listeningUrl(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let output = '';
  for await (const part of stderr) {
    output += new TextDecoder().decode(part);
    const url = /listening on (http:\S+)/.exec(output)?.[1];
    if (url) return url;
  }
  throw new Error(`the server did not start: ${output}`);
}

/** Helpers to create users on a server in another process. */
export async function attach(url: string, env: Environment): Promise<TestServer> {
  return new TestServer(url, env, await openTools(readSettings(env)), async () => {});
}
