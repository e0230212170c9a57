import { ParleyError } from '@parley/contract';

/** SQLite's result codes that pass by themselves or once the operator has acted: nothing is wrong with the request. */
const passingSqlite = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)/;

/**
 * SQLSTATEs of a PostgreSQL that is away, starting, stopping, out of room or connections, no longer the primary, too slow this
 * time, or that thought that we were.
 */
const passingPostgres = /^(08|53|57|58|55P03|25006|25P03)/;

/** A fault of the database as the caller may know it: `unavailable` where trying again may help, else itself. */
export function asUnavailable(error: unknown): unknown {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  const passing =
    (typeof code === 'string' && (passingSqlite.test(code) || code.startsWith('ERR_POSTGRES_CONNECTION'))) ||
    (typeof errno === 'string' && passingPostgres.test(errno));
  return passing ? unavailable(error) : error;
}

export const unavailable = (cause: unknown): ParleyError =>
  new ParleyError('unavailable', 'The database cannot answer right now. Try again.', [], cause);
