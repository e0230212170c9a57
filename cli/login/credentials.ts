import type { CommandContext, Environment } from '../context.ts';
import { withLock } from '../lock.ts';
import { SavedFile } from '../saved-file.ts';
import { loginCommand, type Server } from '../server-url.ts';
import { deferSignals } from '../signals.ts';

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

  constructor(server: Server, env: Environment) {
    super('config', 'login', server.profile === undefined ? server.url : `${server.url} ${server.profile}`, env);
    this.server = server.url;
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

/** An access token that expires sooner than this is refreshed before it is used. */
const marginMs = 60_000;

export type SavedLogin = NonNullable<ReturnType<typeof findLogin>>;

/** Returns the saved login of one user, or undefined if there is none. It ends when another user signs in there. */
export function findLogin(file: CredentialsFile, context: Pick<CommandContext, 'onSignal' | 'exit' | 'clock'>) {
  const { server, loginCommand } = file;
  const userId = file.load()?.user_id;
  if (userId === undefined) return undefined;

  const load = (): Credentials => {
    const saved = file.load();
    if (saved?.user_id === userId) return saved;
    if (saved) throw new Error(`${saved.name} has signed in at ${server} meanwhile.`);
    throw new Error(`You are no longer signed in at ${server}. Sign in again with: ${loginCommand}`);
  };

  // The server revokes the grant if a refresh token is used twice. So one call of one process uses it under the lock, the
  // others find its result, and no signal ends the process between the response and its being saved.
  const renew = (spent: string): Promise<string> =>
    file.locked(async () => {
      const saved = load();
      if (isUsable(saved, spent)) return saved.access_token;
      // Loaded on demand: most commands find a valid access token.
      const { discover, OAuthRefusal, refresh } = await import('./oauth.ts');
      const target = { server, clock: context.clock };
      const metadata = await discover(target);
      return deferSignals(context, async () => {
        const tokens = await refresh(target, metadata, saved).catch((error) => {
          // Only this error proves that the saved login is useless.
          if (!(error instanceof OAuthRefusal && error.code === 'invalid_grant')) throw error;
          file.remove();
          throw new Error(`Your sign-in at ${server} has ended. Sign in again with: ${loginCommand}`);
        });
        file.save({ ...saved, ...tokens });
        return tokens.access_token;
      });
    });

  return {
    get scopes() {
      return load().scopes;
    },
    /** Returns an access token that is valid for a while and is not the refused one. Refreshes it if necessary. */
    token: async (refused?: string): Promise<string> => {
      const saved = load();
      return isUsable(saved, refused) ? saved.access_token : renew(saved.access_token);
    },
  };
}

const isUsable = (saved: Credentials, refused: string | undefined): boolean =>
  saved.access_token !== refused && saved.expires_at - Date.now() > marginMs;
