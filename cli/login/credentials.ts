import type { Environment } from '../context.ts';
import { withLock } from '../lock.ts';
import { SavedFile } from '../saved-file.ts';
import { loginCommand } from '../server-url.ts';

/** The result of signing in to a server. */
export interface Credentials {
  readonly user_id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly access_token: string;
  /** By this machine's clock, in milliseconds since 1970. */
  readonly expires_at: number;
  /** Works once: the next one has to be saved. The server revokes the grant if it is used twice. */
  readonly refresh_token: string;
}

/** The saved credentials of one server. */
export class CredentialsFile extends SavedFile {
  readonly server: string;
  readonly loginCommand: string;

  /** `server` is a URL as `serverUrl` returns it. */
  constructor(server: string, env: Environment) {
    super('config', 'login', server, env);
    this.server = server;
    this.loginCommand = loginCommand(server, env);
  }

  /** Returns the credentials, or undefined if there are none. Throws if the file is damaged. */
  load(): Credentials | undefined {
    const saved = this.read();
    if (saved === undefined || isCredentials(saved)) return saved;
    throw new Error(`${this.path} is damaged. Sign in again with: ${this.loginCommand}`);
  }

  /** Returns the credentials, or undefined if there are none or the file is damaged. */
  loadIfValid(): Credentials | undefined {
    const saved = this.read();
    return saved && isCredentials(saved) ? saved : undefined;
  }

  save(credentials: Credentials): void {
    this.write({ server: this.server, ...credentials });
  }

  /** Every change happens under this lock, based on what was read under it. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.lockPath, work);
  }
}

function isCredentials(saved: object): saved is Credentials {
  const { user_id, name, scopes, access_token, expires_at, refresh_token } = saved as Record<string, unknown>;
  return (
    [user_id, expires_at].every(Number.isSafeInteger) &&
    [name, access_token, refresh_token].every((value) => typeof value === 'string' && value !== '') &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string')
  );
}
