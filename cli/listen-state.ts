import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from './context.ts';
import { privateFolder, readIfThere, writePrivately } from './private-file.ts';

/** What a forwarding is known by: another one of these is another forwarding, with a cursor and a secret of its own. */
export interface Forwarding {
  readonly server: string;
  readonly user_id: number;
  readonly forward: string;
  readonly chat_id: number | undefined;
  readonly events: readonly string[] | undefined;
}

export interface Kept {
  /** The last event that needs not be sent again. */
  readonly cursor: number;
  readonly secret: string;
}

/** Where a forwarding stands, in a file of its own. It holds a secret, so nobody else may read it. */
export class StateFile {
  readonly path: string;
  readonly #forwarding: Forwarding;

  constructor(forwarding: Forwarding, env: Environment) {
    this.#forwarding = forwarding;
    const name = createHash('sha256').update(JSON.stringify(forwarding)).digest('hex').slice(0, 16);
    this.path = join(privateFolder('state', env), `listen-${name}.json`);
  }

  read(): Kept | undefined {
    const text = readIfThere(this.path);
    if (text === undefined) return undefined;
    const kept = parse(text);
    if (kept === undefined) throw new Error(`${this.path} is damaged. Remove it to begin anew with another secret.`);
    return kept;
  }

  write(kept: Kept): void {
    writePrivately(this.path, `${JSON.stringify({ ...kept, ...this.#forwarding })}\n`);
  }
}

function parse(text: string): Kept | undefined {
  try {
    const { cursor, secret } = JSON.parse(text) as Record<string, unknown>;
    return Number.isSafeInteger(cursor) && typeof secret === 'string' && secret !== ''
      ? { cursor: cursor as number, secret }
      : undefined;
  } catch {
    return undefined;
  }
}
