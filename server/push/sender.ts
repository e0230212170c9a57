import type { UserId } from '@parley/contract';
import type { KeptMessage } from '../domain/message.ts';
import { notifies } from '../domain/notification.ts';
import { Batcher } from '../lib/batcher.ts';
import { FairSlots } from '../lib/fair-slots.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Engine } from '../store/engine/engine.ts';
import {
  badgesOf,
  type DuePush,
  hasDue,
  type PushEnd,
  type PushResult,
  storeResults,
  takeDue,
} from '../store/push/pending.ts';
import { type ClientOptions, Deadlines, postTo } from '../webhooks/client.ts';
import { type HostLimit, hostKey } from '../webhooks/host-limit.ts';
import type { Outcome } from '../webhooks/outcome.ts';
import type { Guard } from '../webhooks/ssrf/guard.ts';
import { maxAgeMs } from './dispatcher.ts';
import { encrypt, newMessageKeys } from './encryption.ts';
import { renderNotification } from './notification.ts';
import { SuspectHosts } from './suspect-hosts.ts';
import type { Vapid } from './vapid.ts';
import { verdictOn } from './verdict.ts';

/** The limits of one attempt. */
const limits = { timeoutMs: 10_000, maxRead: 4_096, maxKept: 0 } as const;

/** Attempts at the same time, of all hosts. One host gets at most half of them. */
const maxConcurrent = 200;

/** Pushes that are taken at a time. */
const maxTaken = 200;

/** No more pushes are taken for a host that has so many here. */
const maxOfHost = 100;

/** No more pushes are taken at all. A push holds its message, which has up to 16 KB. */
const maxHeld = 2_000;

/** Pushes that a process has taken are sent by another after this time. */
const takenMs = 60_000;

/** How long a push service keeps a notification for a device that is not connected. */
const ttlSeconds = 4 * 3_600;

export interface SenderDeps {
  readonly engine: Engine;
  readonly guard: Guard;
  readonly hosts: HostLimit;
  readonly vapid: Vapid;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly isAtClient: (userId: UserId) => boolean;
  readonly metrics: Metrics;
  readonly log: Log;
  /** There is room for more pushes, and there may be some. */
  readonly wake: () => void;
}

interface TakenPush extends DuePush {
  readonly badge: number;
  /** By the monotonic clock. */
  readonly takenAt: number;
}

/** Sends pushes that are due. Each is with one process at a time. A service that does not respond delays only its own. */
export class PushSender {
  readonly #deps: SenderDeps;
  readonly #options: ClientOptions;
  readonly #slots = new FairSlots<string>(maxConcurrent);
  readonly #suspects: SuspectHosts;
  /** Taken and not started, by host. A host with attempts in flight has a queue. */
  readonly #queues = new Map<string, TakenPush[]>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #results: Batcher<PushResult, true>;
  readonly #outcomes: FailureLog;
  #queued = 0;
  /** Whether the last step left pushes that are due. */
  #hasMore = false;
  #isStopping = false;

  constructor(deps: SenderDeps) {
    const { engine, now, monotonic, log } = deps;
    this.#deps = deps;
    this.#options = { ...limits, now, monotonic, deadlines: new Deadlines(monotonic) };
    this.#suspects = new SuspectHosts(monotonic);
    this.#outcomes = new FailureLog(log, 'push_results_lost');
    const store = async (batch: readonly PushResult[]) => {
      await engine.writeRelaxed((tx) => storeResults(tx, batch, now()));
      return batch.map(() => true as const);
    };
    this.#results = new Batcher(store, { maxItems: 500, concurrentBatches: 1 });
  }

  /** Takes pushes that are due, and starts them. Does not wait for their end. Returns whether there may be more. */
  async step(): Promise<boolean> {
    const { engine, now, monotonic } = this.#deps;
    this.#start();
    const limit = Math.min(maxTaken, maxHeld - this.#queued - this.#slots.used);
    if (limit <= 0 || this.#isStopping || !(await hasDue(engine, now()))) return false;
    const takenAt = monotonic();
    const at = now();
    const exceptHosts = [...this.#fullHosts(), ...this.#suspects.current()];
    const due = await engine.writeRelaxed((tx) => takeDue(tx, { now: at, until: at + takenMs, limit, exceptHosts }));
    const wanted = due.filter((push) => this.#isWanted(push, at));
    for (const push of due) if (!wanted.includes(push)) this.#end(push, { kind: 'done' }, 'dropped');
    const badges = await badgesOf(engine, [...new Set(wanted.map(({ user_id }) => user_id))], at);
    for (const push of wanted) this.#queue({ ...push, badge: badges.get(push.user_id) ?? 0, takenAt });
    this.#start();
    this.#hasMore = due.length === limit || exceptHosts.length > 0;
    return due.length === limit;
  }

  /** Cancels the attempts in flight. Another process, or the next start, sends what is not sent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const queue of this.#queues.values()) {
      for (const push of queue.splice(0)) this.#later(push, this.#deps.now());
    }
    this.#options.deadlines.close();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  *#fullHosts(): Iterable<string> {
    for (const [host, queue] of this.#queues) if (queue.length + this.#slots.heldBy(host) >= maxOfHost) yield host;
  }

  /** Returns whether the push still makes sense. Much may have happened since the message was sent. */
  #isWanted(push: DuePush, at: number): boolean {
    const { last_read_id, message_id, created_at, has_access, is_deleted, user_id } = push;
    if (!has_access || is_deleted || last_read_id === null || last_read_id >= message_id) return false;
    if (created_at < at - maxAgeMs || this.#deps.isAtClient(user_id)) return false;
    return notifies(push, JSON.parse(push.message) as KeptMessage, at);
  }

  #queue(push: TakenPush): void {
    const queue = this.#queues.get(push.host) ?? [];
    this.#queues.set(push.host, queue);
    queue.push(push);
    this.#queued++;
  }

  /** Starts as many as the slots allow, one of each host in turn. */
  #start(): void {
    for (let hasStarted = true; hasStarted; ) {
      hasStarted = false;
      for (const [host, queue] of this.#queues) {
        if (!this.#slots.mayTake(host)) continue;
        const push = queue.shift();
        if (!push) {
          if (this.#slots.heldBy(host) === 0) this.#queues.delete(host);
          continue;
        }
        this.#queued--;
        hasStarted = true;
        if (!this.#hasLapsed(push)) this.#track(this.#send(push));
      }
    }
  }

  /** Another process may have taken it, or will. */
  #hasLapsed({ takenAt, host }: TakenPush): boolean {
    const isLate = this.#deps.monotonic() - takenAt > takenMs - limits.timeoutMs;
    return isLate || this.#suspects.has(host);
  }

  #track(work: Promise<void>): void {
    this.#inFlight.add(work);
    void work.finally(() => this.#inFlight.delete(work));
  }

  async #send(push: TakenPush): Promise<void> {
    const { hosts, now } = this.#deps;
    const key = hostKey(push.user_id, push.endpoint);
    const waitMs = hosts.waitMs(key);
    if (waitMs > 0) {
      this.#later(push, now() + Math.min(waitMs, 1_000));
      return;
    }
    hosts.take(key);
    this.#slots.take(push.host);
    try {
      const outcome = await this.#post(push);
      this.#suspects.record(push.host, outcome.kind === 'responded');
      this.#settle(push, outcome);
    } catch (cause) {
      // Keys that no message can be encrypted to.
      this.#deps.log.write('warn', 'push_failed', { subscription_id: push.subscription_id, cause });
      this.#end(push, { kind: 'done' }, 'rejected');
    } finally {
      this.#slots.release(push.host);
      hosts.release(key);
      this.#start();
      if (this.#hasMore && this.#queued < maxOfHost / 2) this.#deps.wake();
    }
  }

  #post(push: TakenPush): Promise<Outcome> {
    const { guard, vapid, random } = this.#deps;
    const url = new URL(push.endpoint);
    const message = JSON.parse(push.message) as KeptMessage;
    const body = new Uint8Array(encrypt(renderNotification(push, message, push.badge), push, newMessageKeys(random)));
    const isUrgent = push.type === 'direct' || message.mentions_all || message.mentions?.includes(push.user_id);
    const headers = {
      Authorization: vapid.authorization(url.origin),
      'Content-Type': 'application/octet-stream',
      'Content-Encoding': 'aes128gcm',
      TTL: String(ttlSeconds),
      Urgency: isUrgent ? 'high' : 'normal',
      // A push service keeps only the last notification of a chat for a device that is not connected.
      Topic: `chat-${push.chat_id}`,
    };
    return postTo(guard, this.#options, { url, headers, body });
  }

  #settle(push: TakenPush, outcome: Outcome): void {
    const { now, log } = this.#deps;
    const { subscription_id, host, attempts } = push;
    const result = outcome.kind === 'responded' ? outcome.status : outcome.failure;
    log.write('debug', 'push', { subscription_id, host, attempt: attempts + 1, result, duration_ms: outcome.ms });
    const isCancelled = this.#isStopping && outcome.kind === 'unreached';
    const { end, counted } = verdictOn(outcome, attempts, now());
    if (isCancelled) this.#later(push, now());
    else this.#end(push, end, counted);
  }

  #later(push: TakenPush, nextAt: number): void {
    this.#end(push, { kind: 'later', nextAt });
  }

  /** If the result cannot be stored, the push is sent again. */
  #end({ subscription_id, chat_id, message_id }: DuePush, end: PushEnd, counted?: string): void {
    if (counted) this.#deps.metrics.pushed(counted);
    const { failed, succeeded } = this.#outcomes;
    this.#track(this.#results.submit({ subscription_id, chat_id, message_id, end }).then(succeeded, failed));
  }
}
