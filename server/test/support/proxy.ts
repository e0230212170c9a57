import { join } from 'node:path';
import { endWithUs, temporaryFolder } from './cleanup.ts';
import { type Environment, freshEnvironment } from './engines.ts';
import { eventually } from './eventually.ts';
import { freePort, postgresMissing } from './postgres.ts';
import { describeUnless, requireProgram } from './requirements.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from './server.ts';

const executable = Bun.which('caddy');

const caddyMissing = requireProgram('caddy');

/** Describes behaviour of nodes on one PostgreSQL behind the real proxy. */
export function behindProxy(name: string, suite: () => void): void {
  describeUnless(caddyMissing ?? postgresMissing, name, suite);
}

/** A node behind the proxy. It keeps its port when it is started again. */
export class Node {
  readonly url: string;
  readonly #env: Environment;
  #running: ServerProcess | undefined;

  constructor(env: Environment) {
    this.#env = env;
    this.url = `http://127.0.0.1:${env.PORT}`;
  }

  async start(): Promise<void> {
    this.#running = await spawnServer(this.#env);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    await this.#running?.kill(signal);
    this.#running = undefined;
  }

  /** Returns one of its metrics. */
  async number(name: string): Promise<number> {
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await this.#numbers())?.[1]);
  }

  async #numbers(): Promise<string> {
    return (await fetch(`${this.url}/metrics`)).text();
  }

  /** Returns how many responses to an operation it has sent. */
  async answered(operation: string): Promise<number> {
    const counts = (await this.#numbers()).matchAll(
      /^parley_request_duration_seconds_count\{operation="([\w.]+)",.* (\d+)$/gm,
    );
    return [...counts].reduce((sum, [, name, count]) => sum + (name === operation ? Number(count) : 0), 0);
  }
}

/** Nodes behind the proxy, all on one database and one folder for files. */
export interface Fleet {
  /** Calls go through the proxy. */
  readonly server: TestServer;
  readonly nodes: readonly [Node, Node];
  stop(): Promise<void>;
}

/** Starts two nodes behind the proxy as deployed. The second may have other settings. */
export async function startFleet(ofBoth: Environment = {}, ofSecond: Environment = {}): Promise<Fleet> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const shared = {
    ...(await freshEnvironment('postgres')),
    PUBLIC_URL: url,
    TRUST_PROXY: '1',
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...ofBoth,
  };
  const node = async (own: Environment) => new Node({ ...shared, PORT: String(await freePort()), ...own });
  const nodes = [await node({}), await node(ofSecond)] as const;
  await Promise.all(nodes.map((one) => one.start()));
  const caddy = startCaddy(url, nodes);
  await eventually('the proxy responds', async () => {
    if (caddy.exitCode !== null) throw new Error(`Caddy ended: ${await new Response(caddy.stderr).text()}`);
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok || undefined;
  });
  const server = await attach(url, shared);
  return {
    server,
    nodes,
    stop: async () => {
      await server.stop();
      caddy.kill('SIGKILL');
      await Promise.all([caddy.exited, ...nodes.map((one) => one.kill('SIGKILL'))]);
    },
  };
}

function startCaddy(url: string, nodes: readonly Node[]) {
  const home = temporaryFolder();
  const caddyfile = join(import.meta.dir, '../../../deploy/Caddyfile');
  const child = Bun.spawn([executable ?? 'caddy', 'run', '--config', caddyfile, '--adapter', 'caddyfile'], {
    env: {
      HOME: home,
      CADDY_ADMIN: `unix/${join(home, 'admin.sock')}`,
      PUBLIC_URL: url,
      PARLEY_NODES: nodes.map((one) => new URL(one.url).host).join(' '),
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  return child;
}
