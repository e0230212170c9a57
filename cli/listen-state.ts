import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

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

  constructor(forwarding: Forwarding) {
    this.#forwarding = forwarding;
    const name = createHash('sha256').update(JSON.stringify(forwarding)).digest('hex').slice(0, 16);
    this.path = join(stateFolder(), 'parley', `listen-${name}.json`);
  }

  read(): Kept | undefined {
    const text = readIfThere(this.path);
    if (text === undefined) return undefined;
    const kept = parse(text);
    if (kept === undefined) throw new Error(`${this.path} is damaged. Remove it to begin anew with another secret.`);
    return kept;
  }

  /** Whoever reads the file at any time, or after a crash, finds the old state or the new one. */
  write(kept: Kept): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify({ ...kept, ...this.#forwarding })}\n`, { mode: 0o600 });
    renameSync(draft, this.path);
  }
}

/** As the XDG base directories have it: an address that is not absolute counts as none. */
function stateFolder(): string {
  const chosen = process.env.XDG_STATE_HOME;
  return chosen && isAbsolute(chosen) ? chosen : join(homedir(), '.local', 'state');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
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
