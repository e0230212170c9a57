import type { CommandContext } from './context.ts';
import type { Credentials, CredentialsFile } from './credentials.ts';
import { type Asked, OAuthRefusal } from './oauth/exchange.ts';
import { type AuthorizationServer, discover } from './oauth/metadata.ts';
import { refresh, type Tokens } from './oauth/tokens.ts';
import { undisturbed } from './undisturbed.ts';

/** An access token that ends sooner than this is replaced: a call takes its time to get there. */
const marginMs = 60_000;

type Surroundings = Pick<CommandContext, 'onSignal' | 'exit' | 'clock'>;

/** Whoever signed in to a server from here, for as long as the same person stays signed in. */
export class KeptLogin {
  readonly #file: CredentialsFile;
  readonly #userId: number;
  readonly #context: Surroundings;

  private constructor(file: CredentialsFile, userId: number, context: Surroundings) {
    this.#file = file;
    this.#userId = userId;
    this.#context = context;
  }

  static find(file: CredentialsFile, context: Surroundings): KeptLogin | undefined {
    const kept = file.read();
    return kept && new KeptLogin(file, kept.user_id, context);
  }

  get scopes(): readonly string[] {
    return this.#read().scopes;
  }

  /** An access token that will do for a while, and is not the one that the server has refused. */
  async token(refused?: string): Promise<string> {
    const kept = this.#read();
    if (isUsable(kept, refused)) return kept.access_token;
    return this.#renew(kept.access_token);
  }

  /**
   * A refresh token that is used twice ends what was authorized. So only one call of one process uses it, and the others,
   * which waited for it, find what it got; and none ends between the answer and its being kept.
   */
  #renew(spent: string): Promise<string> {
    return this.#file.locked(async () => {
      const kept = this.#read();
      if (isUsable(kept, spent)) return kept.access_token;
      const authorizationServer = await discover(this.#asked);
      return undisturbed(this.#context, async () => {
        const tokens = await this.#refresh(authorizationServer, kept);
        this.#file.write({ ...kept, ...credentialsOf(tokens) });
        return tokens.accessToken;
      });
    });
  }

  get #asked(): Asked {
    return { server: this.#file.server, clock: this.#context.clock };
  }

  async #refresh(authorizationServer: AuthorizationServer, kept: Credentials): Promise<Tokens> {
    const { server, signIn } = this.#file;
    try {
      return await refresh(this.#asked, authorizationServer, {
        scopes: kept.scopes,
        refreshToken: kept.refresh_token,
      });
    } catch (error) {
      // Trouble on the way says nothing about what is kept; this does.
      if (!(error instanceof OAuthRefusal && error.code === 'invalid_grant')) throw error;
      this.#file.remove();
      throw new Error(`Your sign-in at ${server} has ended. Sign in again with: ${signIn}`);
    }
  }

  #read(): Credentials {
    const { server, signIn } = this.#file;
    const kept = this.#file.read();
    if (kept?.user_id === this.#userId) return kept;
    if (kept) throw new Error(`${kept.name} has signed in at ${server} meanwhile.`);
    throw new Error(`You are no longer signed in at ${server}. Sign in again with: ${signIn}`);
  }
}

const isUsable = (kept: Credentials, refused: string | undefined): boolean =>
  kept.access_token !== refused && kept.expires_at - Date.now() > marginMs;

export const credentialsOf = (tokens: Tokens) => ({
  access_token: tokens.accessToken,
  expires_at: tokens.expiresAt,
  refresh_token: tokens.refreshToken,
  scopes: tokens.scopes,
});
