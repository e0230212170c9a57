import type { Db } from '../engine/engine.ts';
import { eventsNamed } from '../log/events.ts';
import { type GivenUp, undeliveredEvents } from './deliveries.ts';
import type { ReplayRow } from './replays.ts';
import { type EventPage, eventsFor, reachedEvent } from './webhook-events.ts';
import type { WebhookRow } from './webhooks.ts';

/** The events of a replay that are not queued yet. */
export type ReplayRange = Pick<ReplayRow, 'only_states' | 'reached_event' | 'to_event'>;

/** Returns the next events of a replay. */
export async function replayEvents(
  db: Db,
  webhook: WebhookRow,
  replay: ReplayRange,
  limit: number,
): Promise<EventPage> {
  const range = { after: replay.reached_event, upTo: replay.to_event, limit };
  if (replay.only_states === null) return eventsFor(db, webhook, range);
  const states = JSON.parse(replay.only_states) as GivenUp[];
  const found = await undeliveredEvents(db, webhook.webhook_id, { ...range, states });
  const events = await eventsNamed(
    db,
    found.map((row) => row.event_id),
  );
  return { events, reached: reachedEvent(found, range.limit, range.upTo) };
}

const pageSize = 500;

/** Pages that are read to count: those of a user who sees few of the events may be short. */
const maxPages = 100;

/** Counts the events of a replay, up to `max`, and says whether these are all. */
export async function countReplay(db: Db, webhook: WebhookRow, replay: ReplayRange, max: number) {
  let count = 0;
  let { reached_event } = replay;
  for (let page = 0; reached_event < replay.to_event; page++) {
    if (count >= max || page === maxPages) return { count: Math.min(count, max), isExact: false };
    const { events, reached } = await replayEvents(db, webhook, { ...replay, reached_event }, pageSize);
    count += events.length;
    reached_event = reached;
  }
  return { count: Math.min(count, max), isExact: count <= max };
}
