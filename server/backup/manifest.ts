import { z } from 'zod';
import { newestVersion } from '../store/migrate.ts';
import { BackupError, damaged } from './failure.ts';

/** The newest form of backups, which is the one that is written. It rises when an older Parley could not read them. */
export const newestFormat = 1;

const count = z.int().nonnegative();
const identifier = z.string().regex(/^[a-z][a-z0-9_]*$/);

const manifestSchema = z.object({
  format: count,
  /** The Parley that wrote it. */
  parley: z.string(),
  /** The last migration of the database. */
  schema: z.int().positive(),
  engine: z.enum(['sqlite', 'postgres']),
  /** From before the database was looked at. */
  began_at: z.iso.datetime(),
  /** In the order in which they are filled. */
  tables: z.array(z.object({ name: identifier, columns: z.record(identifier, z.enum(['int', 'text'])), rows: count })),
  /** The last ids that were given out. */
  last_ids: z.record(z.string(), count),
  /** Up to this id the log tells everything. It may be beyond the last event: ids are also taken for what is then refused. */
  log_reached: count.default(0),
  /** Those that are whole. Where they are not included, they are in this bucket. */
  files: z.object({ included: z.boolean(), count, bytes: count, bucket: z.string().nullable() }),
  /** The key that seals the secrets of webhooks, told by its fingerprint; null where there was none yet. */
  key: z.object({ included: z.boolean(), fingerprint: z.string().nullable() }),
});

export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

const missingSchema = z.array(count);
const endSchema = z.object({ sha256: z.string() });

export function parseManifest(text: string): Manifest {
  const found = parse(text, 'its manifest');
  const { format, schema } = found as Partial<Manifest>;
  if (typeof format === 'number' && format > newestFormat) throw tooNew(`has the format ${format}`, newestFormat);
  const { success, data } = manifestSchema.safeParse(found);
  if (!success) throw damaged('its manifest makes no sense');
  if (typeof schema === 'number' && schema > newestVersion) throw tooNew(`has schema version ${schema}`, newestVersion);
  return data;
}

/** The files whose bytes were removed while the backup was made, or were not in the storage, by their ids. */
export function parseMissing(text: string): readonly number[] {
  const { success, data } = missingSchema.safeParse(parse(text, 'its list of missing files'));
  if (!success) throw damaged('its list of missing files makes no sense');
  return data;
}

/** The SHA-256 of everything before the end, as it stands in the archive. */
export function parseEnd(text: string): string {
  const { success, data } = endSchema.safeParse(parse(text, 'its end'));
  if (!success) throw damaged('its end makes no sense');
  return data.sha256;
}

const tooNew = (what: string, known: number) =>
  new BackupError(`The backup ${what}, and this Parley knows only those up to ${known}. Restore it with a newer one.`);

function parse(text: string, what: string): object {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === 'object' && found !== null) return found;
  } catch {}
  throw damaged(`${what} makes no sense`);
}
