import type { Clock } from '../context.ts';
import { page } from './page.ts';

/** What the browser brought back, and the means to tell whoever looks at it how it went. */
export interface Callback {
  readonly params: ReadonlyMap<string, string>;
  readonly show: (page: Response) => void;
}

const path = '/callback';

/** For what the browser has not read yet when the command is done. */
const lingerMs = 1_000;

/**
 * Waits on this machine for the browser to come back (RFC 8252). Anybody here can knock: only what has the state, which was
 * told to the authorization server alone, is the callback, and only the first of them.
 */
export class Loopback {
  readonly redirect: string;
  readonly callback: Promise<Callback>;
  readonly #server: Bun.Server<undefined>;

  constructor(state: string) {
    const { promise, resolve } = Promise.withResolvers<Callback>();
    this.callback = promise;
    let isOver = false;
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      // The browser waits while the code is exchanged.
      idleTimeout: 120,
      fetch: (request) => {
        const url = new URL(request.url);
        if (request.method !== 'GET' || url.pathname !== path) return page(404, 'There is nothing here.');
        const params = readOnce(url.searchParams);
        if (params?.get('state') !== state) {
          return page(400, 'This is not the answer to the sign-in that waits here. Begin again: npx parley login');
        }
        if (isOver) return page(400, 'This address was used already; you can close this window.');
        isOver = true;
        return new Promise((show) => resolve({ params, show }));
      },
    });
    this.redirect = `http://127.0.0.1:${this.#server.port}${path}`;
  }

  async close(clock: Clock): Promise<void> {
    const enough = Promise.withResolvers<void>();
    const cancel = clock.timeout(lingerMs, enough.resolve);
    await Promise.race([this.#server.stop(), enough.promise]);
    cancel();
    await this.#server.stop(true);
  }
}

/** The parameters; none where one came twice, since it would not be clear which of them counts. */
function readOnce(search: URLSearchParams): ReadonlyMap<string, string> | undefined {
  const params = new Map(search);
  return params.size === [...search].length ? params : undefined;
}
