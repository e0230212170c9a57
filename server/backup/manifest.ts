import { z } from 'zod';
import { newestVersion } from '../store/engine/migrate.ts';
import { BackupError, damaged } from './failure.ts';

/** The format that is written. It rises when an older Parley could not read a new backup. */
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
  /** Before the snapshot. */
  began_at: z.iso.datetime(),
  /** In the order in which a restore fills them. */
  tables: z.array(z.object({ name: identifier, columns: z.record(identifier, z.enum(['int', 'text'])), rows: count })),
  /** The last id given out of each kind. */
  last_ids: z.record(z.string(), count),
  /** The log is complete up to this id. It may be above the last event, because rolled back transactions take ids too. */
  log_reached: count.default(0),
  /** The complete files. If they are not included, they are in this bucket. */
  files: z.object({ included: z.boolean(), count, bytes: count, bucket: z.string().nullable() }),
  /** The key that encrypts the secrets of webhooks. The fingerprint is null if there was none yet. */
  key: z.object({ included: z.boolean(), fingerprint: z.string().nullable() }),
});

export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

export function parseManifest(text: string): Manifest {
  const { format, schema } = (parseJson(text) ?? {}) as Partial<Manifest>;
  if (typeof format === 'number' && format > newestFormat) throw tooNew(`has the format ${format}`, newestFormat);
  const manifest = parse(text, manifestSchema, 'its manifest');
  if (typeof schema === 'number' && schema > newestVersion) throw tooNew(`has schema version ${schema}`, newestVersion);
  return manifest;
}

/** Returns the ids of files that were deleted during the backup or were not in the storage. */
export const parseMissing = (text: string): readonly number[] =>
  parse(text, z.array(count), 'its list of missing files');

/** Returns the SHA-256 of everything before the last entry, as the archive states it. */
export const parseEnd = (text: string): string => parse(text, z.object({ sha256: z.string() }), 'its end').sha256;

const tooNew = (what: string, known: number) =>
  new BackupError(
    `The backup ${what}, but this Parley supports only those up to ${known}. Restore it with a newer Parley.`,
  );

function parse<T>(text: string, schema: z.ZodType<T>, what: string): T {
  const { success, data } = schema.safeParse(parseJson(text));
  if (!success) throw damaged(`${what} is invalid`);
  return data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
