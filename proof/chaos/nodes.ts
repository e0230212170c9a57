import type { Environment } from '../harness/child.ts';
import { pick, type Random } from '../harness/random.ts';
import { Server } from '../harness/server.ts';
import { hangMs, pause } from '../harness/wait.ts';

/** The delay before a server that could not start is started again. */
const restartMs = 200;

/** Returns whether a log line reports an unexpected error. An unavailable database is expected. */
const isFault = (line: string) => line.includes('"level":"error"') && !line.includes('"code":"unavailable"');

/**
 * Equal servers on one database, of which any may be away. Each start gets a port of its own, so that no connection outlives
 * its server unnoticed.
 */
export class Nodes implements AsyncDisposable {
  readonly #environments: readonly Environment[];
  readonly #databaseLastAway: () => number;
  readonly #servers: (Server | undefined)[];
  readonly counts = { starts: 0, startsWithoutDatabase: 0 };
  /** Starts and ends that must not happen, as sentences. */
  readonly broken: string[] = [];
  /** Log lines that report something unexpected. */
  readonly faults: string[] = [];

  constructor(environments: readonly Environment[], databaseLastAway: () => number) {
    this.#environments = environments;
    this.#databaseLastAway = databaseLastAway;
    this.#servers = environments.map(() => undefined);
  }

  get numbers(): number[] {
    return [...this.#servers.keys()];
  }

  get up(): Server[] {
    return this.#servers.filter((server) => server?.isUp) as Server[];
  }

  /** Fails if no server is up. */
  get first(): Server {
    const [server] = this.up;
    if (!server) throw new Error('no server is up');
    return server;
  }

  /** Returns a server that is up, another one than the last if there is a choice. Waits until there is one. */
  async any(random: Random, end: AbortSignal, last?: Server): Promise<Server> {
    for (;;) {
      end.throwIfAborted();
      const [first, ...rest] = this.up;
      if (first) {
        const others = [first, ...rest].filter((server) => server !== last);
        return pick(random, [others[0] ?? first, ...others.slice(1)]);
      }
      await pause(20, end);
    }
  }

  /** Starts a server, and does not wait until it listens. */
  begin(number: number): Server {
    const onLine = (line: string) => void (isFault(line) && this.faults.push(line));
    const server = new Server(this.#environments[number] ?? {}, { onLine });
    this.#servers[number] = server;
    this.counts.starts++;
    return server;
  }

  /** Returns once the server listens. A start without a database may fail; it is repeated, as by a supervisor. */
  async untilUp(number: number, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const server = this.#servers[number] ?? this.begin(number);
      if (await server.ready()) return;
      if (this.#databaseLastAway() < server.startedAt) this.broken.push(`a server did not start: ${server.stderr}`);
      else this.counts.startsWithoutDatabase++;
      await pause(restartMs, end);
      this.begin(number);
    }
  }

  async kill(number: number): Promise<void> {
    await this.#take(number)?.kill();
  }

  async stop(number: number): Promise<void> {
    const server = this.#take(number);
    if (!server) return;
    // During its start it may find no database to start on.
    const wasUp = server.isUp;
    const isInOrder = await server.stop(hangMs);
    if (!isInOrder && wasUp) this.broken.push(`a server did not stop in order: ${server.stderr}`);
  }

  /** Removes and returns a server. Returns undefined if it has ended by itself, which is a breach if it had listened. */
  #take(number: number): Server | undefined {
    const server = this.#servers[number];
    this.#servers[number] = undefined;
    if (server?.state !== 'ended') return server;
    if (server.wasUp) this.broken.push(`a server ended by itself: ${server.stderr}`);
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server?.kill()));
  }
}
