import { Child, type ChildOptions, type Environment } from './child.ts';

export interface ServerOptions extends ChildOptions {
  /** `server/main.ts`, unless another file starts Parley in its own way. */
  readonly file?: string;
}

/** A Parley server in a process of its own. */
export class Server extends Child {
  #url: string | undefined;
  readonly #listening: Promise<void>;

  constructor(env: Environment, { file = 'server/main.ts', ...options }: ServerOptions = {}) {
    const toStderr = (line: string) => void process.stderr.write(`${line}\n`);
    super(file, { onLine: toStderr, ...options, env: { PORT: '0', ...env } });
    this.#listening = this.said(/listening on (http:\S+)\s/).then((url) => {
      this.#url = url;
    });
  }

  /** Starts a server. Fails if it does not come to listen. */
  static async start(env: Environment, options: ServerOptions = {}): Promise<Server> {
    const server = new Server(env, options);
    await server.ready();
    server.check();
    return server;
  }

  get url(): string {
    if (this.#url === undefined) throw new Error(`the server does not listen: ${this.stderr}`);
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get isUp(): boolean {
    return this.wasUp && this.state === 'running';
  }

  get wasUp(): boolean {
    return this.#url !== undefined;
  }

  /** Returns once the server listens or has ended, and which of the two. */
  async ready(): Promise<boolean> {
    await this.#listening;
    return this.isUp;
  }
}
