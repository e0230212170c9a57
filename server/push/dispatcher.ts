import type { ChatId, MessageId, UserId } from '@parley/contract';
import { type Addressed, notifies } from '../domain/notification.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Engine, LogEntry, Tx } from '../store/engine/engine.ts';
import { firstEventSince, moveCursor, readCursor } from '../store/log/events.ts';
import { insertPending, type NewPending, type Recipient, recipientsIn } from '../store/push/pending.ts';
import { hasSubscriptions } from '../store/push/subscriptions.ts';

/** Older messages notify nobody: after a long downtime people would get many at once. */
export const maxAgeMs = 3_600_000;

/** Events in one step. */
const maxEvents = 500;

/** A step ends with the event that brings its pushes to this number: other writers wait while they are inserted. */
const maxMatched = 2_000;

/** While nothing matches, the cursor is stored this often, and when idle: only the next start and retention need it. */
const storeMs = 1_000;

interface DispatcherDeps {
  readonly engine: Engine;
  readonly eventLog: EventLog;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** How long a push waits. A message that is read within this time notifies nobody. */
  readonly delayMs: number;
  readonly isAtClient: (userId: UserId) => boolean;
  /** Pushes were stored, and are due after the delay. */
  readonly stored: () => void;
}

type SentMessage = Addressed & { readonly message_id: MessageId };

/**
 * Decides whom new messages notify, after their commit and never in the transaction of a send. Several processes share one
 * cursor: the first to store the pushes of an event moves it, and the others skip the event. While nobody has a
 * subscription, a step costs one lookup.
 */
export class PushDispatcher {
  readonly #deps: DispatcherDeps;
  /** Every event up to here is dispatched; -1 until the cursor is read. The stored cursor may be behind. */
  #position = -1;
  /** The cursor in the database, or a later one of another process. */
  #stored = -1;
  #storedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Dispatches the next events. Returns whether there are more of those that were there when it began: later ones wake the loop again. */
  async step(): Promise<boolean> {
    if (this.#position < 0) this.#position = this.#stored = await readCursor(this.#deps.engine, 'push');
    // Read before the lookup of subscriptions: a message after it may be for one that the lookup did not see.
    const { tip } = this.#deps.eventLog;
    if (this.#position < tip) await this.#dispatch(tip);
    else if (this.#position > this.#stored) await this.#store(this.#position, [], true);
    return this.#position < tip;
  }

  async #dispatch(tip: number): Promise<void> {
    const { engine, eventLog, now } = this.#deps;
    if (!(await hasSubscriptions(engine))) return this.#store(tip, []);
    const { events, last } = await eventLog.read(this.#position, maxEvents);
    const oldest = now() - maxAgeMs;
    const newest = events.at(-1);
    if (newest && newest.created_at < oldest) return this.#store((await firstEventSince(engine, oldest)) - 1, []);
    const { pushes, upTo } = await this.#match(events, last, oldest);
    return this.#store(upTo, pushes);
  }

  async #match(events: readonly LogEntry[], last: number, oldest: number) {
    const { engine, now, isAtClient } = this.#deps;
    const at = now();
    const recipients = new Map<ChatId, readonly Recipient[]>();
    const pushes = new Map<string, NewPending>();
    for (const { event, event_id, chat_id, created_at, body } of events) {
      if (event !== 'new_message' || created_at < oldest) continue;
      const known = recipients.get(chat_id) ?? (await recipientsIn(engine, chat_id, at));
      recipients.set(chat_id, known);
      if (known.length === 0) continue;
      const { data: message } = JSON.parse(body) as { data: SentMessage };
      for (const recipient of known) {
        if (isAtClient(recipient.user_id) || !notifies(recipient, message, at)) continue;
        const { subscription_id } = recipient;
        const push = { subscription_id, chat_id, message_id: message.message_id, created_at };
        pushes.set(`${subscription_id} ${chat_id}`, push);
      }
      if (pushes.size >= maxMatched) return { pushes: [...pushes.values()], upTo: event_id };
    }
    return { pushes: [...pushes.values()], upTo: last };
  }

  /** Stores pushes and the cursor after them. */
  async #store(upTo: number, pushes: readonly NewPending[], isIdle = false): Promise<void> {
    const { engine, monotonic, now, delayMs } = this.#deps;
    const from = this.#position;
    const isDue = isIdle || monotonic() - this.#storedAt >= storeMs;
    if (pushes.length > 0 || isDue) {
      const dueAt = now() + delayMs;
      const reached = await engine.writeRelaxed((tx) => storeOnce(tx, from, Math.max(from, upTo), pushes, dueAt));
      this.#storedAt = monotonic();
      this.#stored = reached;
      this.#position = Math.max(from, reached);
      if (pushes.length > 0) this.#deps.stored();
    } else this.#position = Math.max(from, upTo);
  }
}

/** Returns the stored cursor. If another process has passed `from`, it has stored the pushes, and nothing is changed. */
async function storeOnce(
  tx: Tx,
  from: number,
  upTo: number,
  pushes: readonly NewPending[],
  dueAt: number,
): Promise<number> {
  await tx.lockKeys(['push']);
  const stored = await readCursor(tx, 'push');
  if (stored > from) return stored;
  await insertPending(tx, pushes, dueAt);
  await moveCursor(tx, 'push', upTo);
  return upTo;
}
