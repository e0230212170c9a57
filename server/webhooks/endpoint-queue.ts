import type { WebhookId } from '@parley/contract';
import type { LeaseTerm } from '../lib/lease.ts';
import type { BacklogRow } from '../store/webhooks/backlogs.ts';
import type { OpenDelivery } from '../store/webhooks/deliveries.ts';
import type { EndpointStateRow, LeaseKey, ReleasableState } from '../store/webhooks/endpoint-state.ts';
import type { ReplayRow } from '../store/webhooks/replays.ts';
import type { EndpointEnd } from '../store/webhooks/webhook-ends.ts';
import type { WebhookAccess, WebhookRow } from '../store/webhooks/webhooks.ts';
import type { Attempt, AttemptTarget } from './attempt.ts';
import { ChatQueues, type QueuedDelivery, storedDelivery } from './chat-queue.ts';
import { adjustAllowance, type EndpointUsage, slowMs } from './concurrency-limit.ts';
import type { DeliveryDeps } from './deps.ts';
import { type Health, healthy, isSuccess, judge, resultFields } from './health.ts';
import { hostKey } from './host-limit.ts';
import { needsRefillCheck, nextRefill, type Refilled, type RefillTask } from './refill.ts';
import type { AttemptResult } from './result-writer.ts';

/** Everything about a webhook that delivering to it needs, as it is in the database. */
export interface EndpointSnapshot {
  readonly webhook: WebhookRow;
  readonly state: EndpointStateRow;
  readonly access: WebhookAccess;
  readonly deliveries: readonly OpenDelivery[];
  /** How long its endpoint took to respond to the newest delivery; undefined if there is none. */
  readonly lastDurationMs: number | undefined;
  readonly backlogs: readonly BacklogRow[];
  readonly replays: readonly ReplayRow[];
}

export interface Lease extends LeaseKey {
  readonly term: LeaseTerm;
}

/** The next step for a webhook. */
export type Action =
  /** Read it again from the database. */
  | { readonly kind: 'reload' }
  /** Create deliveries from the log, or leave new events to the log. */
  | { readonly kind: 'refill'; readonly task: RefillTask }
  /** It has something to send: let the scheduler choose when. */
  | { readonly kind: 'send' }
  /** Ask again after this time. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'disable'; readonly reason: EndpointEnd }
  /** Give up the lease until this time; null means until something happens. */
  | { readonly kind: 'release'; readonly state: ReleasableState; readonly dueAt: number | null }
  | { readonly kind: 'nothing' };

const send: Action = { kind: 'send' };
const nothing: Action = { kind: 'nothing' };

/** A webhook with nothing to do is released after this time. */
const lingerMs = 3_000;

/** The database keeps the time of what is due later than this, so that the lease can be released. */
const lookAheadMs = 10_000;

/** A webhook that changes while it is read is read again after this time. */
const reloadPauseMs = 5;

/** After an error of our own. It is not the endpoint's fault, and must not be retried in a loop. */
const faultMs = 5_000;

/**
 * The queue of one webhook, while this process holds its lease. It owns all that is known about the webhook, and decides
 * what to do next; the worker does it and reports the result.
 */
export class EndpointQueue implements AttemptTarget {
  readonly webhookId: WebhookId;
  readonly usage: EndpointUsage;
  /** A delivery that is taken with `chats.begin` is reported with `apply`. */
  readonly chats = new ChatQueues();
  readonly #deps: DeliveryDeps;
  #webhook: WebhookRow;
  readonly lease: Lease;
  #accessExpiresAt: number | null = null;
  #confirmedUrl: string | null = null;
  #deliveryCount = 0;
  #revision = 0;
  #newestDeliveryId = 0;
  #health: Health = healthy;
  #backlogs: readonly BacklogRow[] = [];
  #replays: readonly ReplayRow[] = [];
  /** Deliveries with results that are not in the database yet, and how many. */
  readonly #unwritten = new Map<number, number>();
  /** During a load: deliveries whose rows may be older than what is known here. */
  #newerThanLoad: Set<number> | undefined;
  #isHealthNewer = false;
  #isStale = false;
  #reloadAt = 0;
  #isRefilling = false;
  /** Decisions since the last check for a refill; infinite if the next one has to check. */
  #decisionsSinceCheck = Number.POSITIVE_INFINITY;
  #disabling: { readonly reason: EndpointEnd; at: number } | undefined;
  #isReleasing = false;
  #isHalted = false;
  #hasEnded = false;
  #lastActiveAt: number;

  constructor(snapshot: EndpointSnapshot, lease: Lease, deps: DeliveryDeps) {
    const { webhook, state, lastDurationMs = Number.POSITIVE_INFINITY } = snapshot;
    const wasQuick = lastDurationMs <= slowMs && state.down_since === null;
    this.webhookId = webhook.webhook_id;
    this.lease = lease;
    this.usage = {
      inFlight: 0,
      allowance: wasQuick ? 2 : 1,
      isSuspect: false,
      ownerId: snapshot.access.owner_id,
      unconfirmedHost: undefined,
    };
    this.#deps = deps;
    this.#webhook = webhook;
    this.#lastActiveAt = deps.monotonic();
    this.load(snapshot);
  }

  get leaseNumber(): number {
    return this.lease.lease_number;
  }

  get webhook(): WebhookRow {
    return this.#webhook;
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  get isLoading(): boolean {
    return this.#newerThanLoad !== undefined;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get lastActiveAt(): number {
    return this.#lastActiveAt;
  }

  /** This process may send for the webhook at this moment. */
  get isOurs(): boolean {
    return !this.#hasEnded && !this.#isHalted && !this.#isStale && !this.lease.term.isOver;
  }

  /** Returns whether a delivery may be sent at this moment. */
  canSend(): boolean {
    const now = this.#deps.now();
    const hasAccess = this.#accessExpiresAt === null || this.#accessExpiresAt > now;
    const isActive = this.#webhook.status === 'active' && !this.#disabling;
    return this.chats.hasReady && this.isOurs && hasAccess && isActive && !this.#isHeld(now);
  }

  #isHeld(now: number): boolean {
    return this.#health.hold_until !== null && this.#health.hold_until > now;
  }

  /** Adds deliveries that were just created. Becomes stale if others were created that it does not know of. */
  add(state: EndpointStateRow, deliveries: readonly QueuedDelivery[], since: number): void {
    const isNext =
      this.#deliveryCount + deliveries.length === state.delivery_count && this.#revision === state.revision;
    if (!isNext || this.#isStale || this.isLoading) {
      this.invalidate();
      return;
    }
    this.#deliveryCount = state.delivery_count;
    this.#decisionsSinceCheck = Number.POSITIVE_INFINITY;
    this.lease.term.extend(since);
    const now = this.#deps.now();
    for (const delivery of deliveries) {
      this.#newestDeliveryId = Math.max(this.#newestDeliveryId, delivery.deliveryId);
      this.chats.append(delivery, now);
    }
  }

  /** Marks the queue as out of date: nothing is sent until the webhook is read again. */
  invalidate(): void {
    this.#isStale = true;
    this.#reloadAt = this.isLoading ? this.#deps.monotonic() + reloadPauseMs : 0;
  }

  /** Becomes stale if the webhook was changed. If only deliveries were added, returns the newest that is known. */
  compare(state: EndpointStateRow): { webhook_id: WebhookId; delivery_id: number } | undefined {
    if (this.#isStale || state.revision !== this.#revision) this.invalidate();
    this.#decisionsSinceCheck = Number.POSITIVE_INFINITY;
    const isBehind = !this.#isStale && state.delivery_count > this.#deliveryCount;
    return isBehind ? { webhook_id: this.webhookId, delivery_id: this.#newestDeliveryId } : undefined;
  }

  /** Returns the deliveries in `read` that `state` counts and that are not known, in the order of their events. */
  missing(state: EndpointStateRow, read: readonly OpenDelivery[]): QueuedDelivery[] {
    const unknown = read.filter(({ delivery_id }) => delivery_id > this.#newestDeliveryId);
    const counted = unknown.slice(0, Math.max(0, state.delivery_count - this.#deliveryCount));
    return counted.map(storedDelivery).sort((a, b) => a.eventId - b.eventId);
  }

  /** Called before the database is read. */
  beginLoad(): void {
    this.#isStale = false;
    this.#newerThanLoad = new Set(this.#unwritten.keys());
    this.#isHealthNewer = false;
  }

  /** The database could not be read. It stays stale until it is invalidated again. */
  failLoad(): void {
    this.#newerThanLoad = undefined;
    this.#isStale = true;
    this.#reloadAt = Number.POSITIVE_INFINITY;
  }

  /** Takes over a snapshot. Deliveries that were attempted since the read began are known better here. */
  load({ webhook, state, access, deliveries, backlogs, replays }: EndpointSnapshot): void {
    const now = this.#deps.now();
    if (state.revision !== this.#revision) this.#disabling = undefined;
    this.#webhook = webhook;
    this.#deliveryCount = state.delivery_count;
    this.#revision = state.revision;
    this.#accessExpiresAt = access.expires_at;
    this.#confirm(access.confirmed_url);
    this.#backlogs = backlogs;
    this.#replays = replays;
    this.#isReleasing = false;
    const { down_since, down_cause, probes, hold_until } = state;
    if (down_since !== null) this.usage.isSuspect = true;
    if (!this.#isHealthNewer) this.#health = { ...this.#health, down_since, down_cause, probes, hold_until };
    // If the clock was set back, these times lie in the future, and every new attempt would look older than they are.
    const { lastSuccessAt, foundDownAt } = this.#health;
    const bounded = { lastSuccessAt: Math.min(lastSuccessAt, now), foundDownAt: Math.min(foundDownAt, now) };
    this.#health = { ...this.#health, ...bounded };
    const newer = this.#newerThanLoad;
    this.#newerThanLoad = undefined;
    const read = deliveries.map(storedDelivery);
    for (const { deliveryId } of read) this.#newestDeliveryId = Math.max(this.#newestDeliveryId, deliveryId);
    this.chats.replace(read, (id) => newer?.has(id) ?? false, this.#health.down_since !== null, now);
  }

  /** Returns what to do next. Ask again after a refill began, and whenever something was reported. */
  decide(): Action {
    if (this.#hasEnded || this.#isHalted) return nothing;
    const now = this.#deps.now();
    if (this.#isStale) {
      const ms = this.#reloadAt - this.#deps.monotonic();
      if (this.isLoading || ms === Number.POSITIVE_INFINITY) return nothing;
      return ms > 0 ? { kind: 'wait', ms } : { kind: 'reload' };
    }
    if (this.#disabling && this.#disabling.at <= now) {
      this.#disabling.at = Number.POSITIVE_INFINITY;
      return { kind: 'disable', reason: this.#disabling.reason };
    }
    const task = this.#decideRefill(now);
    if (task) return { kind: 'refill', task };
    this.chats.offerDue(now);
    const isActive = this.#webhook.status === 'active';
    if (isActive && this.chats.hasReady && !this.#isHeld(now) && !this.#disabling) return send;
    const nextReady = this.chats.nextTime(now);
    const nextSend = nextReady && Math.max(nextReady, this.#health.hold_until ?? 0);
    const next = this.#disabling?.at ?? nextSend;
    const isSoon = isActive && next !== undefined && next < now + lookAheadMs;
    if (this.#isIdle(now, isSoon)) {
      this.#isReleasing = true;
      const state = { ...this.lease, delivery_count: this.#deliveryCount, revision: this.#revision };
      return { kind: 'release', state, dueAt: this.#dueAt(next, now) };
    }
    return isSoon ? { kind: 'wait', ms: Math.max(0, next - now) + 1 } : nothing;
  }

  /** This is called after every attempt, so it looks closely only where there may be something to do. */
  #decideRefill(now: number): RefillTask | undefined {
    const view = this.#refillView(now);
    if (this.#isRefilling || !needsRefillCheck(view, this.#decisionsSinceCheck++)) return undefined;
    this.#decisionsSinceCheck = 0;
    const task = nextRefill(view, now);
    this.#isRefilling = task !== undefined;
    return task;
  }

  #refillView(now: number) {
    const isDown = this.#health.down_since !== null && this.chats.count > 0;
    const canRefill = !isDown && !this.#isHeld(now) && this.#webhook.status === 'active';
    return { chats: this.chats, backlogs: this.#backlogs, replays: this.#replays, canRefill };
  }

  #isIdle(now: number, isSoon: boolean): boolean {
    const isBusy = this.usage.inFlight > 0 || this.hasUnwritten || this.isLoading || this.#isReleasing;
    if (isBusy) return false;
    if (this.#webhook.status !== 'active') return true;
    if (isSoon || this.#disabling || this.#deps.monotonic() - this.#lastActiveAt <= lingerMs) return false;
    return !this.#isRefilling && nextRefill(this.#refillView(now), now) === undefined;
  }

  #dueAt(next: number | undefined, now: number): number | null {
    if (this.#webhook.status !== 'active') return null;
    if (next !== undefined) return next;
    const hasMore = this.#backlogs.length > 0 || this.#replays.length > 0;
    return hasMore ? Math.max(this.#health.hold_until ?? 0, now + lookAheadMs) : null;
  }

  /** Takes in the result of an attempt. Returns the result to write, if there is one. */
  apply(delivery: QueuedDelivery, attempt: Attempt): AttemptResult | undefined {
    if (this.#hasEnded) return undefined;
    const now = this.#deps.now();
    this.#lastActiveAt = this.#deps.monotonic();
    if (attempt.kind !== 'sent') {
      if (attempt.kind !== 'cancelled') delivery.nextAt = now + faultMs;
      // Retention dropped the event, and settled the delivery with it.
      if (attempt.kind === 'event_missing') this.invalidate();
      this.chats.end(delivery, false, now);
      return undefined;
    }
    const { outcome, startedAt } = attempt;
    // As it was when the request was signed.
    const { url, secret_number } = attempt.webhook;
    const isFirstSuccess = isSuccess(outcome) && url === this.#webhook.url && url !== this.#confirmedUrl;
    if (isFirstSuccess) this.#confirm(url);
    const before = this.#health;
    const verdict = judge(before, { delivery, outcome, startedAt, now, random: this.#deps.random });
    adjustAllowance(this.usage, isSuccess(outcome) && outcome.ms <= slowMs);
    delivery.attempts++;
    delivery.refusals = verdict.refusals;
    delivery.lastAt = startedAt;
    delivery.nextAt = verdict.nextAt ?? 0;
    this.#health = verdict.health;
    this.#isHealthNewer = true;
    this.#unwritten.set(delivery.deliveryId, (this.#unwritten.get(delivery.deliveryId) ?? 0) + 1);
    this.#newerThanLoad?.add(delivery.deliveryId);
    if (verdict.disable) this.#disabling ??= { reason: verdict.disable, at: 0 };
    this.chats.setDown(verdict.health.down_since !== null, now);
    this.chats.end(delivery, verdict.state !== 'retrying', now);
    const { down_since, hold_until } = verdict.health;
    return {
      webhookId: this.webhookId,
      leaseNumber: this.leaseNumber,
      replayId: delivery.replayId,
      health: down_since !== before.down_since || hold_until !== before.hold_until ? verdict.health : undefined,
      confirmedUrl: isFirstSuccess ? url : undefined,
      result: {
        delivery_id: delivery.deliveryId,
        state: verdict.state,
        attempts: delivery.attempts,
        refusals: verdict.refusals,
        next_at: verdict.nextAt,
        at: startedAt,
        secret_number,
        ...resultFields(outcome),
      },
    };
  }

  /** This URL has responded with a 2xx. */
  #confirm(url: string | null): void {
    this.#confirmedUrl = url;
    const isConfirmed = url === this.#webhook.url;
    this.usage.unconfirmedHost = isConfirmed ? undefined : hostKey(this.usage.ownerId, this.#webhook.url);
  }

  /** A result of this delivery is in the database. */
  noteWritten(deliveryId: number): void {
    const left = (this.#unwritten.get(deliveryId) ?? 1) - 1;
    if (left > 0) this.#unwritten.set(deliveryId, left);
    else this.#unwritten.delete(deliveryId);
  }

  /** A refill is over. If it failed, the webhook has to be read again. */
  endRefill(refilled: Refilled | undefined): void {
    this.#isRefilling = false;
    if (!refilled) {
      this.invalidate();
      return;
    }
    this.#backlogs = refilled.backlogs;
    this.#replays = refilled.replays;
  }

  /** The webhook could not be disabled: nothing is sent, and it is decided again later. */
  failDisable(): void {
    if (this.#disabling) this.#disabling.at = this.#deps.now() + faultMs;
  }

  /** While it is halted it starts no attempts; those in flight may end. */
  setHalted(isHalted: boolean): void {
    this.#isHalted = isHalted;
  }

  /** The lease is lost or released: nothing is sent or written any more. */
  end(): void {
    this.#hasEnded = true;
  }
}
