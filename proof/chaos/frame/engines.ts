import type { EngineName } from '../../../server/test/support/engines.ts';
import { natsMissing } from '../../../server/test/support/nats.ts';

/** Why a fault cannot be run on an engine. */

export const onPostgresOnly = (engine: EngineName): string | undefined =>
  engine === 'sqlite' ? 'It does not apply: it happens to a PostgreSQL.' : undefined;

export const onSqliteOnly = (engine: EngineName): string | undefined =>
  engine === 'postgres' ? 'It does not apply: it happens to the files of SQLite.' : undefined;

export const onNodesOnly = (engine: EngineName): string | undefined =>
  engine === 'sqlite' ? 'It does not apply: several nodes share a PostgreSQL.' : natsMissing;
