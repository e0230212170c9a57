import type { DeliveryId } from '@parley/contract';
import type { NewDelivery, OpenDelivery } from '../store/deliveries.ts';

/** A delivery that is to be made. */
export interface Entry {
  readonly deliveryId: DeliveryId;
  readonly eventId: number;
  readonly chatId: number;
  /** 0: none. */
  readonly replayId: number;
  readonly event: string;
  attempts: number;
  refusals: number;
  /** Not before; 0: at any time. */
  nextAt: number;
  /** When it was last tried; 0: never. */
  lastAt: number;
}

/** A delivery that was just made out of the log. */
export const newEntry = (deliveryId: DeliveryId, row: NewDelivery): Entry => ({
  deliveryId,
  eventId: row.event_id,
  chatId: row.chat_id,
  replayId: row.replay_id,
  event: row.event,
  attempts: 0,
  refusals: 0,
  nextAt: 0,
  lastAt: 0,
});

export const entryOf = (row: OpenDelivery): Entry => ({
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  chatId: row.chat_id,
  replayId: row.replay_id,
  event: row.event,
  attempts: row.attempts,
  refusals: row.refusals,
  nextAt: row.next_at ?? 0,
  lastAt: row.last_at ?? 0,
});

export const laneKey = ({ replayId, chatId }: Pick<Entry, 'replayId' | 'chatId'>): string => `${replayId}/${chatId}`;

/** The deliveries of one chat to one webhook, or of a replay of it: one at a time, in the order of their events. */
export class Lane {
  readonly chatId: number;
  readonly replayId: number;
  readonly entries: Entry[] = [];
  /** A request is under way for the first one. */
  busy = false;
  /** It stands in the queue of those that can go on. */
  queued = false;

  constructor({ chatId, replayId }: Pick<Entry, 'replayId' | 'chatId'>) {
    this.chatId = chatId;
    this.replayId = replayId;
  }

  get head(): Entry | undefined {
    return this.entries[0];
  }

  /** Adds what comes after everything that is in it; answers whether it did. */
  append(entry: Entry): boolean {
    const last = this.entries.at(-1);
    if (last && last.eventId >= entry.eventId) return false;
    this.entries.push(entry);
    return true;
  }
}
