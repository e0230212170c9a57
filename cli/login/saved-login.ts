import type { CommandContext } from '../context.ts';
import { deferSignals } from '../signals.ts';
import type { Credentials, CredentialsFile } from './credentials.ts';

/** An access token that expires sooner than this is refreshed before it is used. */
const marginMs = 60_000;

/** The login of one user at one server. It ends when another user signs in there. */
export interface SavedLogin {
  readonly scopes: readonly string[];
  /** Returns an access token that is valid for a while and is not the refused one. Refreshes it if necessary. */
  token(refused?: string): Promise<string>;
}

/** Returns the saved login, or undefined if there is none. */
export function findLogin(
  file: CredentialsFile,
  context: Pick<CommandContext, 'onSignal' | 'exit' | 'clock'>,
): SavedLogin | undefined {
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
    token: async (refused) => {
      const saved = load();
      return isUsable(saved, refused) ? saved.access_token : renew(saved.access_token);
    },
  };
}

const isUsable = (saved: Credentials, refused: string | undefined): boolean =>
  saved.access_token !== refused && saved.expires_at - Date.now() > marginMs;
