/**
 * What is in the database for a while only, by the SELECT that counts it. What people keep (messages, reactions, chats, the
 * files that messages name) grows with them and is not here.
 */
export const kept = {
  events: 'events',
  deliveries: 'deliveries',
  'failed attempts': 'attempts',
  'answers under an Idempotency-Key': 'idempotency',
  'access tokens': "tokens WHERE kind = 'personal'",
  sessions: "tokens WHERE kind = 'session'",
  'audit log': 'audit',
  'stays in chats that are over': 'members WHERE left_event IS NOT NULL',
  'files that no message names': 'files WHERE expires_at IS NOT NULL',
  'uploads under way': 'files WHERE lease_until IS NOT NULL',
  'shared rate limits': 'rate_uses',
  'failed sign-ins': 'throttles',
  'webhook backlogs': 'backlogs',
} as const;

export type Kept = keyof typeof kept;

/** One query for all of them. */
export const countKept = `SELECT ${Object.values(kept)
  .map((from, i) => `(SELECT count(*) FROM ${from}) AS n${i}`)
  .join(', ')}`;

/** What that query answers, by name. */
export const readKept = (row: Readonly<Record<string, unknown>>): Record<Kept, number> =>
  Object.fromEntries(Object.keys(kept).map((name, i) => [name, Number(row[`n${i}`])])) as Record<Kept, number>;
