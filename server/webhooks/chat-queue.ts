import type { DeliveryId } from '@parley/contract';
import type { Inserted, OpenDelivery } from '../store/webhooks/deliveries.ts';

/** A delivery that waits for its attempt. */
export interface QueuedDelivery {
  readonly deliveryId: DeliveryId;
  readonly eventId: number;
  readonly chatId: number;
  /** 0 if no replay asked for it. */
  readonly replayId: number;
  readonly event: string;
  attempts: number;
  refusals: number;
  /** The earliest time of the next attempt; 0 means at any time. */
  nextAt: number;
  /** Time of the last attempt; 0 if there was none. */
  lastAt: number;
}

/** A delivery that was just created. */
export const createdDelivery = (row: Inserted): QueuedDelivery => ({
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  chatId: row.chat_id,
  replayId: row.replay_id,
  event: row.event,
  attempts: 0,
  refusals: 0,
  nextAt: 0,
  lastAt: 0,
});

/** A delivery that was read from the database. */
export const storedDelivery = (row: OpenDelivery): QueuedDelivery => ({
  ...createdDelivery(row),
  attempts: row.attempts,
  refusals: row.refusals,
  nextAt: row.next_at ?? 0,
  lastAt: row.last_at ?? 0,
});

type QueueKey = Pick<QueuedDelivery, 'replayId' | 'chatId'>;

const keyOf = ({ replayId, chatId }: QueueKey): string => `${replayId}/${chatId}`;

/** The deliveries of one chat to one webhook, or of one chat in a replay: one at a time, in the order of their events. */
class ChatQueue {
  readonly chatId: number;
  readonly replayId: number;
  readonly deliveries: QueuedDelivery[] = [];
  /** An attempt at the first delivery is in flight. */
  isBusy = false;
  /** It is in the list of queues that can send. */
  isReady = false;

  constructor({ chatId, replayId }: QueueKey) {
    this.chatId = chatId;
    this.replayId = replayId;
  }

  get head(): QueuedDelivery | undefined {
    return this.deliveries[0];
  }

  /** Returns whether its first delivery waits for its next attempt. */
  isWaiting(now: number): boolean {
    return !this.isBusy && this.head !== undefined && this.head.nextAt > now;
  }
}

/** All chat queues of one webhook, and which of them can send. */
export class ChatQueues {
  readonly #queues = new Map<string, ChatQueue>();
  readonly #ready: ChatQueue[] = [];
  #count = 0;
  #isDown = false;
  /** When the first of the waiting queues is due. */
  #nextDueAt = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#queues.size;
  }

  /** The number of deliveries in all queues. */
  get count(): number {
    return this.#count;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  append(delivery: QueuedDelivery, now: number): void {
    this.#offer(this.#append(delivery), now);
  }

  /** Adds nothing unless the event is newer than all that are queued. */
  #append(delivery: QueuedDelivery): ChatQueue {
    const key = keyOf(delivery);
    const queue = this.#queues.get(key) ?? new ChatQueue(delivery);
    this.#queues.set(key, queue);
    if ((queue.deliveries.at(-1)?.eventId ?? 0) < delivery.eventId) {
      queue.deliveries.push(delivery);
      this.#count++;
    }
    return queue;
  }

  /** Takes the next queue that can send, and returns its first delivery. Nothing else of the queue is sent until `end`. */
  begin(): QueuedDelivery | undefined {
    const queue = this.#ready.shift();
    if (!queue) return undefined;
    queue.isReady = false;
    queue.isBusy = queue.head !== undefined;
    return queue.head;
  }

  /** The attempt at a delivery is over. */
  end(delivery: QueuedDelivery, isSettled: boolean, now: number): void {
    const queue = this.#queues.get(keyOf(delivery));
    if (!queue) return;
    queue.isBusy = false;
    if (isSettled) {
      queue.deliveries.shift();
      this.#count--;
    }
    this.#offer(queue, now);
  }

  /** While the endpoint is down, every queue can send: a probe may be taken from any of them. */
  setDown(isDown: boolean, now: number): void {
    const isUpAgain = this.#isDown && !isDown;
    this.#isDown = isDown;
    if (!isUpAgain) return;
    for (const queue of this.#ready.splice(0)) queue.isReady = false;
    this.#offerAll(now);
  }

  /** Checks the waiting queues again once the first of them may be due. */
  offerDue(now: number): void {
    if (this.#nextDueAt > now) return;
    this.#nextDueAt = Number.POSITIVE_INFINITY;
    this.#offerAll(now);
  }

  #offerAll(now: number): void {
    for (const queue of this.#queues.values()) this.#offer(queue, now);
  }

  /** Lists a queue among those that can send, if it can. An empty one is removed. */
  #offer(queue: ChatQueue, now: number): void {
    const { head } = queue;
    if (!head && !queue.isBusy) this.#queues.delete(keyOf(queue));
    if (!head || queue.isBusy || queue.isReady) return;
    if (head.nextAt > now && !this.#isDown) {
      this.#nextDueAt = Math.min(this.#nextDueAt, head.nextAt);
      return;
    }
    queue.isReady = true;
    this.#ready.push(queue);
  }

  /**
   * Replaces everything but the deliveries whose attempts are in flight. `isNewer` names the deliveries that are known
   * better here than in what was read.
   */
  replace(
    read: readonly QueuedDelivery[],
    isNewer: (deliveryId: number) => boolean,
    isDown: boolean,
    now: number,
  ): void {
    const known = new Map<number, QueuedDelivery>();
    for (const { deliveries } of this.#queues.values()) for (const one of deliveries) known.set(one.deliveryId, one);
    this.#ready.length = 0;
    this.#count = 0;
    for (const [key, queue] of this.#queues) {
      queue.isReady = false;
      queue.deliveries.splice(queue.isBusy ? 1 : 0);
      this.#count += queue.deliveries.length;
      if (!queue.isBusy) this.#queues.delete(key);
    }
    for (const one of read) {
      const current = isNewer(one.deliveryId) ? known.get(one.deliveryId) : one;
      if (current) this.#append(current);
    }
    this.#isDown = isDown;
    const queues = [...this.#queues.values()];
    // The one attempted longest ago comes first: a probe must not always meet the same event.
    if (isDown) queues.sort((a, b) => (a.head?.lastAt ?? 0) - (b.head?.lastAt ?? 0));
    for (const queue of queues) this.#offer(queue, now);
  }

  /** Returns when the next delivery can be sent, or undefined if there is none. */
  nextTime(now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const { head, isBusy } of this.#queues.values()) {
      if (head && !isBusy) next = Math.min(next, this.#isDown ? now : Math.max(head.nextAt, now));
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  /** Deliveries in queues that are not waiting. */
  countMoving(now: number): number {
    return this.#countIn((queue) => !queue.isWaiting(now));
  }

  countInReplay(replayId: number): number {
    return this.#countIn((queue) => queue.replayId === replayId);
  }

  #countIn(isCounted: (queue: ChatQueue) => boolean): number {
    let count = 0;
    for (const queue of this.#queues.values()) if (isCounted(queue)) count += queue.deliveries.length;
    return count;
  }

  /** The waiting queues of chats, without replays, that are longer than this. */
  waitingQueues(longerThan: number, now: number): ChatQueue[] {
    return [...this.#queues.values()].filter(
      (queue) => queue.replayId === 0 && queue.isWaiting(now) && queue.deliveries.length > longerThan,
    );
  }

  ofChat(chatId: number): ChatQueue | undefined {
    return this.#queues.get(keyOf({ chatId, replayId: 0 }));
  }
}
