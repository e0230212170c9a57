import type { ChatId, DeliveryId, DeliveryState, WebhookId } from '@parley/contract';
import type { Db, Value } from '../engine/engine.ts';
import { value } from '../engine/query.ts';
import { columns, type DeliveryRow, givenUp, open } from './deliveries.ts';

export interface DeliveryQuery {
  readonly webhookId: WebhookId;
  readonly state?: DeliveryState | undefined;
  readonly event?: string | undefined;
  readonly chatId?: ChatId | undefined;
  readonly replayId?: number | undefined;
  /** Bounds on the event, both included. */
  readonly fromEvent: number;
  readonly toEvent: number;
  /** The page continues below this delivery. */
  readonly before: Pick<DeliveryRow, 'event_id' | 'replay_id'> | undefined;
  readonly limit: number;
}

/** Rows that one page scans at most. Filters that match almost nothing together must not read a million of them. */
const maxScanned = 2_000;

export interface DeliveryPage {
  readonly rows: readonly DeliveryRow[];
  /** The cursor of the next page; undefined if there is none. */
  readonly next: DeliveryId | undefined;
}

const filters = ['replay', 'state', 'event', 'chat'] as const;
type Filter = (typeof filters)[number];

/** The conditions of states. Their literals are those of partial indexes, so that the planner may use them. */
const ofState: Readonly<Record<DeliveryState, string>> = {
  pending: `d.state = 'pending' AND ${open}`,
  retrying: `d.state = 'retrying' AND ${open}`,
  delivered: `d.state = 'delivered'`,
  failed: `d.state = 'failed' AND ${givenUp}`,
  skipped: `d.state = 'skipped' AND ${givenUp}`,
};

const isOpen = (state: DeliveryState | undefined) => state === 'pending' || state === 'retrying';
const isGivenUp = (state: DeliveryState | undefined) => state === 'failed' || state === 'skipped';

/** What a page is read from: an index, and the filter whose rows are together in it. */
interface Source {
  readonly index: string;
  readonly filter: Filter | undefined;
}

/** Returns the index with the fewest rows, as far as one can tell. */
function sourceOf({ replayId, state, event, chatId }: DeliveryQuery): Source {
  if (isOpen(state)) return { index: 'deliveries_open', filter: 'state' };
  if (replayId !== undefined) return { index: 'deliveries_by_replay', filter: 'replay' };
  if (isGivenUp(state)) return { index: 'deliveries_given_up', filter: 'state' };
  if (event !== undefined && event !== 'new_message') return { index: 'deliveries_by_name', filter: 'event' };
  if (chatId !== undefined) return { index: 'deliveries_by_chat', filter: 'chat' };
  return { index: 'deliveries_by_event', filter: undefined };
}

/** A statement that is made part by part, with its values. */
class Statement {
  readonly values: Value[] = [];
  readonly param = (value: Value): string => `$${this.values.push(value)}`;
}

/** Returns the condition of a filter, or undefined if the query does not have it. */
function conditionOf(filter: Filter, q: DeliveryQuery, { param }: Statement): string | undefined {
  const { replayId, state, event, chatId } = q;
  switch (filter) {
    case 'replay':
      return replayId === undefined ? undefined : `d.replay_id = ${param(replayId)} AND d.replay_id > 0`;
    case 'state':
      return state && ofState[state];
    case 'event':
      if (event === 'new_message') return `d.event = 'new_message'`;
      return event === undefined ? undefined : `d.event = ${param(event)} AND d.event <> 'new_message'`;
    case 'chat':
      return chatId === undefined ? undefined : `d.chat_id = ${param(chatId)}`;
  }
}

/** Returns the part of a SELECT that reads an index in the order of the page. */
function scanOf(db: Db, q: DeliveryQuery, { index, filter }: Source, statement: Statement): string {
  const { param } = statement;
  // The index of open deliveries has another order. The sum keeps the planner from reading all deliveries in this one.
  const eventId = isOpen(q.state) ? '(d.event_id + 0)' : 'd.event_id';
  const upTo = Math.min(q.toEvent, q.before?.event_id ?? q.toEvent);
  const conditions = [
    `d.webhook_id = ${param(q.webhookId)}`,
    `${eventId} >= ${param(q.fromEvent)} AND ${eventId} <= ${param(upTo)}`,
    filter && conditionOf(filter, q, statement),
    q.before && `(${eventId} < ${param(q.before.event_id)} OR d.replay_id < ${param(q.before.replay_id)})`,
  ];
  return `FROM deliveries d ${db.dialect.indexedBy(index)} WHERE ${conditions.filter(Boolean).join(' AND ')}
    ORDER BY ${eventId} DESC, d.replay_id DESC`;
}

/** Returns a page of the deliveries of a webhook, newest events first. */
export async function listDeliveries(db: Db, q: DeliveryQuery): Promise<DeliveryPage> {
  const source = sourceOf(q);
  // Most rows match most filters, so a short scan usually fills the page.
  const short = await scanPage(db, q, source, 4 * q.limit);
  const { rows, isExact } = short.isFull || short.isExact ? short : await scanPage(db, q, source, maxScanned);
  if (rows.length > q.limit) return { rows: rows.slice(0, q.limit), next: rows[q.limit - 1]?.delivery_id };
  return { rows, next: isExact ? undefined : await lastScanned(db, q, source) };
}

/** Returns the rows that match among so many of an index, up to one more than the page has. */
async function scanPage(db: Db, q: DeliveryQuery, source: Source, scanned: number) {
  const statement = new Statement();
  const scan = scanOf(db, q, source, statement);
  const others = filters.flatMap((name) => (name === source.filter ? [] : (conditionOf(name, q, statement) ?? [])));
  const limit = statement.param(q.limit + 1);
  const isExact = others.length === 0;
  const rows = await db.all<DeliveryRow>(
    isExact
      ? `SELECT ${columns} ${scan} LIMIT ${limit}`
      : `SELECT ${columns} FROM (SELECT d.* ${scan} LIMIT ${scanned}) AS d WHERE ${others.join(' AND ')}
         ORDER BY d.event_id DESC, d.replay_id DESC LIMIT ${limit}`,
    statement.values,
  );
  return { rows, isExact, isFull: rows.length > q.limit };
}

/** Returns the last delivery that a page scans, if there may be more after it. */
async function lastScanned(db: Db, q: DeliveryQuery, source: Source): Promise<DeliveryId | undefined> {
  const statement = new Statement();
  const scan = scanOf(db, q, source, statement);
  return value<DeliveryId>(db, `SELECT d.delivery_id ${scan} LIMIT 1 OFFSET ${maxScanned - 1}`, statement.values);
}
