/**
 * Rows that are stored for a limited time, by what follows `SELECT count(*) FROM`. What people keep (messages, reactions,
 * chats, files of messages) grows with them and is not here.
 */
export const temporaryRows = {
  events: 'events',
  deliveries: 'deliveries',
  'failed attempts': 'attempts',
  'responses under an Idempotency-Key': 'idempotency',
  'access tokens': "tokens WHERE kind = 'personal'",
  sessions: "tokens WHERE kind = 'session'",
  'audit log': 'audit',
  'memberships that have ended': 'members WHERE left_event IS NOT NULL',
  'files that no message names': 'files WHERE expires_at IS NOT NULL',
  'uploads under way': 'files WHERE lease_expires_at > 0',
  'shared rate limits': 'rate_uses',
  'failed sign-ins': 'throttles',
  'webhook backlogs': 'backlogs',
} as const;

export type RowName = keyof typeof temporaryRows;

export type RowCounts = Readonly<Record<RowName, number>>;

/** One query for all of them. */
export const countQuery = `SELECT ${Object.values(temporaryRows)
  .map((from, i) => `(SELECT count(*) FROM ${from}) AS n${i}`)
  .join(', ')}`;

/** Returns the result of that query by name. */
export const readCounts = (row: Readonly<Record<string, unknown>>): RowCounts =>
  Object.fromEntries(Object.keys(temporaryRows).map((name, i) => [name, Number(row[`n${i}`])])) as RowCounts;
