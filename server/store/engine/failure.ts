import { ParleyError } from '@parley/contract';

/** SQLite's result codes for which a retry may succeed, perhaps after the operator has acted. */
const transientSqlite = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)/;

/**
 * SQLSTATEs for which a retry may succeed: the server is unreachable, starting, stopping, out of resources or no longer the
 * primary, or a timeout has expired.
 */
const transientPostgres = /^(08|53|57|58|55P03|25006|25P03)/;

/** Returns `unavailable` for a database error for which a retry may succeed, and other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  const isTransient =
    (typeof code === 'string' && (transientSqlite.test(code) || code.startsWith('ERR_POSTGRES_CONNECTION'))) ||
    (typeof errno === 'string' && transientPostgres.test(errno));
  return isTransient ? unavailable(error) : error;
}

export const unavailable = (cause: unknown): ParleyError =>
  new ParleyError('unavailable', 'The database is unavailable right now. Try again.', [], cause);
