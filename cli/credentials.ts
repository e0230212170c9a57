import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { signInCommand } from './address.ts';
import type { Environment } from './context.ts';
import { withLock } from './lock.ts';
import { privateFolder, readIfThere, writePrivately } from './private-file.ts';

/** What signing in to a server gave. */
export interface Credentials {
  readonly user_id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly access_token: string;
  /** By this machine's clock, in milliseconds since 1970. */
  readonly expires_at: number;
  /** Works once: whoever uses it has to keep the next one. Used twice, it ends what was authorized. */
  readonly refresh_token: string;
}

/** Where the credentials for one server are kept. */
export class CredentialsFile {
  readonly server: string;
  readonly path: string;
  /** What to type to sign in to the server again. */
  readonly signIn: string;

  /** The server's address, as `serverAddress` spells it. */
  constructor(server: string, env: Environment) {
    this.server = server;
    this.signIn = signInCommand(server, env);
    const name = createHash('sha256').update(server).digest('hex').slice(0, 16);
    this.path = join(privateFolder('config', env), `login-${name}.json`);
  }

  read(): Credentials | undefined {
    const text = readIfThere(this.path);
    if (text === undefined) return undefined;
    const kept = parse(text);
    if (kept) return kept;
    throw new Error(`${this.path} is damaged. Sign in again with: ${this.signIn}`);
  }

  /** For whoever is about to replace or remove it anyway. */
  readIfWhole(): Credentials | undefined {
    return parse(readIfThere(this.path) ?? '');
  }

  write(credentials: Credentials): void {
    writePrivately(this.path, `${JSON.stringify({ server: this.server, ...credentials })}\n`);
  }

  /** Answers whether there was something to remove. */
  remove(): boolean {
    const wasThere = existsSync(this.path);
    rmSync(this.path, { force: true });
    return wasThere;
  }

  /** Whoever changes what is kept does it under this lock, on what was read under it. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.path.replace(/json$/, 'lock'), work);
  }
}

function parse(text: string): Credentials | undefined {
  try {
    const kept = JSON.parse(text) as Record<string, unknown>;
    const { user_id, name, scopes, access_token, expires_at, refresh_token } = kept;
    const isWhole =
      [user_id, expires_at].every(Number.isSafeInteger) &&
      [name, access_token, refresh_token].every((value) => typeof value === 'string' && value !== '') &&
      Array.isArray(scopes) &&
      scopes.every((scope) => typeof scope === 'string');
    return isWhole ? (kept as unknown as Credentials) : undefined;
  } catch {
    return undefined;
  }
}
