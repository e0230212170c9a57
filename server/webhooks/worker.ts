import type { WebhookId } from '@parley/contract';
import { SingleFlight } from '../lib/single-flight.ts';
import { FailureLog } from '../observe/failure-log.ts';
import { type EndpointStateRow, endWaitsAfterClockSetBack, openSince } from '../store/webhooks/endpoint-state.ts';
import { disableUnderLease, type EndpointEnd } from '../store/webhooks/webhook-ends.ts';
import { Attempts } from './attempt.ts';
import type { DeliveryDeps } from './deps.ts';
import { type CreatedDeliveries, Dispatcher } from './dispatcher.ts';
import { type Action, EndpointQueue, type Lease } from './endpoint-queue.ts';
import { WebhookLeases } from './leases.ts';
import { type RefillTask, refill } from './refill.ts';
import { ResultWriter } from './result-writer.ts';
import { retryPolicy } from './retry-policy.ts';
import { type Job, Scheduler } from './scheduler.ts';

/** Deliveries that other processes created are looked for once in this time. */
const gatherMs = 10;

/** Attempts in flight may take this long when the process stops, and this much longer to notice that they are cancelled. */
const drainMs = 3_000;
const cancelMs = 1_000;

/** A webhook that is transferred waits this long for its attempts in flight. */
const transferMs = 250;

/** A clock that is set back by less is being adjusted, and costs no more than a short wait. */
const clockSlackMs = 1_000;

/**
 * Delivers to webhooks. The dispatcher turns the log into deliveries, a queue per endpoint decides what to do next, and
 * this one loop does it. Everything in memory can be read again from the database. Commits wake it up; a sweep stands in
 * for a lost wake-up.
 */
export class DeliveryWorker {
  readonly #deps: DeliveryDeps;
  readonly #dispatcher: Dispatcher;
  readonly #leases: WebhookLeases;
  readonly #attempts: Attempts;
  readonly #writer: ResultWriter;
  readonly #scheduler: Scheduler;
  readonly #queues = new Map<WebhookId, EndpointQueue>();
  readonly #loading = new Map<WebhookId, Promise<void>>();
  readonly #timers = new Map<EndpointQueue, ReturnType<typeof setTimeout>>();
  readonly #dispatching: SingleFlight;
  readonly #sweeping: SingleFlight;
  readonly #gathering: SingleFlight;
  #sweepTimer: ReturnType<typeof setInterval> | undefined;
  /** The cursor is written although nothing was dispatched. */
  #isCursorDue = false;
  #willSend = false;
  #hostTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopping = false;
  /** By how much the clock is ahead of the monotonic one. */
  #clockLead = 0;
  /** The clock was set back, or may have been before the start. */
  #isClockSetBack = true;

  constructor(deps: DeliveryDeps) {
    const { log } = deps;
    this.#deps = deps;
    this.#dispatcher = new Dispatcher(deps);
    this.#leases = new WebhookLeases(deps);
    this.#attempts = new Attempts(deps);
    this.#writer = new ResultWriter(deps);
    this.#scheduler = new Scheduler(deps);
    const flight = (work: () => Promise<void>, event: string) => new SingleFlight(work, new FailureLog(log, event));
    this.#dispatching = flight(() => this.#dispatch(), 'webhook_dispatch_failed');
    this.#sweeping = flight(() => this.#sweep(), 'webhook_sweep_failed');
    this.#gathering = flight(() => this.#gather(), 'webhook_gather_failed');
  }

  async start(): Promise<void> {
    await this.#leases.begin();
    const sweep = () => {
      this.#isCursorDue = true;
      void this.webhooksChanged();
      this.eventsCommitted();
    };
    this.#sweepTimer = setInterval(sweep, this.#deps.sweepMs).unref();
    sweep();
  }

  /** There are new events in the log. */
  eventsCommitted(): void {
    void this.#dispatching.run();
  }

  /** A webhook or its deliveries were changed. Resolves once this process acts on it. */
  webhooksChanged(): Promise<void> {
    this.#dispatcher.subscriptionsChanged();
    return this.#sweeping.run();
  }

  /** Starts no more attempts, lets those in flight end or cancels them, and releases all leases. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#hostTimer);
    await Promise.all([this.#dispatching, this.#sweeping, this.#gathering].map((flight) => flight.stop()));
    await Promise.all(this.#loading.values());
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#leases.leave().catch(this.#logFailure('node_not_removed'));
    await untilIdle(this.#scheduler, drainMs);
    this.#attempts.close();
    await untilIdle(this.#scheduler, cancelMs);
    try {
      // A database that is away is not waited for: results that are not written are repeated.
      await Promise.race([this.#writer.flush(), Bun.sleep(drainMs)]);
      await this.#dispatcher.settle();
      await this.#leases.releaseAll();
      this.#deps.notifyNodes();
    } catch (cause) {
      this.#logFailure('webhook_leases_not_released')(cause);
    }
  }

  #logFailure(event: string): (cause: unknown) => undefined {
    return (cause) => void this.#deps.log.write('warn', event, { cause });
  }

  // An event becomes deliveries.

  async #dispatch(): Promise<void> {
    // The responses to the writers of the events go out first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let more = true; more && !this.#isStopping; ) {
      const dispatched = await this.#dispatcher.step();
      more = dispatched.more;
      this.#attempts.remember(dispatched.events);
      for (const created of dispatched.made) this.#accept(created, dispatched.since);
      if (dispatched.overtaken) void this.#gathering.run();
      if (!more && this.#isCursorDue) more = await this.#dispatcher.settle();
    }
    this.#isCursorDue = false;
  }

  /** Queues deliveries of a webhook whose lease is ours. They were created after `since`. */
  #accept({ state, deliveries }: CreatedDeliveries, since: number): void {
    const queue = this.#queues.get(state.webhook_id);
    const lease = this.#leases.leaseOf(state, since);
    if (queue?.leaseNumber === state.lease_number) {
      queue.add(state, deliveries, since);
      this.#advance(queue);
      // Those that are sent at once are told with their results.
      if (!queue.canSend()) this.#tellOwner(queue);
    } else if (!queue || queue.leaseNumber < state.lease_number) {
      if (queue) this.#drop(queue);
      this.#load(lease);
    }
  }

  /** Reads a webhook, once at a time. A queue that is dropped meanwhile stays dropped. */
  #load(lease: Lease): void {
    const { webhook_id } = lease;
    if (this.#isStopping || this.#loading.has(webhook_id)) return;
    const known = this.#queues.get(webhook_id);
    const loading = this.#read(lease, known)
      .catch((cause) => {
        known?.failLoad();
        this.#logFailure('webhook_not_loaded')(cause);
      })
      .then(() => {
        this.#loading.delete(webhook_id);
        const queue = this.#queues.get(webhook_id);
        if (queue) this.#advance(queue);
      });
    this.#loading.set(webhook_id, loading);
  }

  async #read(lease: Lease, known: EndpointQueue | undefined): Promise<void> {
    if (known?.hasUnwritten) await this.#writer.catchUp();
    known?.beginLoad();
    const snapshot = await this.#leases.load(lease);
    if (snapshot && known) known.load(snapshot);
    else if (snapshot) this.#queues.set(lease.webhook_id, new EndpointQueue(snapshot, lease, this.#deps));
    else if (known) this.#drop(known);
  }

  #tellOwner({ webhook: { user_id, webhook_id } }: EndpointQueue): void {
    this.#deps.deliveriesChanged(user_id, webhook_id);
  }

  /** Forgets a webhook whose lease is lost or released. */
  #drop(queue: EndpointQueue): void {
    queue.end();
    clearTimeout(this.#timers.get(queue));
    this.#timers.delete(queue);
    if (this.#queues.get(queue.webhookId) === queue) this.#queues.delete(queue.webhookId);
  }

  // A delivery becomes a request, and its result is written.

  /** Does what the queue decides. */
  #advance(queue: EndpointQueue): void {
    if (this.#isStopping) return;
    const action = queue.decide();
    switch (action.kind) {
      case 'send':
        this.#scheduler.add(queue);
        this.#sendSoon();
        break;
      case 'wait':
        clearTimeout(this.#timers.get(queue));
        this.#timers.set(
          queue,
          setTimeout(() => this.#advance(queue), action.ms),
        );
        break;
      case 'refill':
        void this.#refill(queue, action.task);
        this.#advance(queue);
        break;
      case 'reload':
        this.#load(queue.lease);
        break;
      case 'disable':
        void this.#disable(queue, action.reason);
        break;
      case 'release':
        void this.#release(queue, action);
    }
  }

  /** Starts what the scheduler allows, after the current turn of the event loop. */
  #sendSoon(): void {
    if (this.#willSend) return;
    this.#willSend = true;
    setImmediate(() => {
      this.#willSend = false;
      if (this.#isStopping) return;
      for (let job = this.#scheduler.next(); job; job = this.#scheduler.next()) void this.#send(job);
      this.#waitForHosts();
    });
  }

  #waitForHosts(): void {
    const { hostWaitMs } = this.#scheduler;
    clearTimeout(this.#hostTimer);
    if (hostWaitMs === Number.POSITIVE_INFINITY) return;
    this.#hostTimer = setTimeout(() => {
      this.#scheduler.retryHosts();
      this.#sendSoon();
    }, hostWaitMs);
  }

  async #send({ queue, delivery, slot }: Job): Promise<void> {
    const attempt = await this.#attempts.make(queue, delivery);
    const applied = queue.apply(delivery, attempt);
    this.#scheduler.release(slot);
    const writing = applied && this.#writer.write(applied);
    if (applied) this.#attempts.report(applied, delivery);
    this.#advance(queue);
    this.#sendSoon();
    if (!writing) return;
    // The chat's next delivery does not wait for this.
    const outcome = await writing;
    queue.noteWritten(delivery.deliveryId);
    if (outcome === 'written') this.#tellOwner(queue);
    if (outcome === 'written' || queue.hasEnded) return;
    if (outcome === 'lease_lost') return this.#drop(queue);
    queue.invalidate();
    this.#advance(queue);
  }

  async #refill(queue: EndpointQueue, task: RefillTask): Promise<void> {
    const { engine, owner, now, monotonic } = this.#deps;
    const since = monotonic();
    const refilling = refill(engine, owner, queue.webhookId, task, now());
    const refilled = await refilling.catch(this.#logFailure('webhook_refill_failed'));
    if (queue.hasEnded) return;
    queue.endRefill(refilled);
    if (refilled) this.#attempts.remember(refilled.events);
    if (refilled?.created?.state.owner === owner) this.#accept(refilled.created, since);
    else this.#advance(queue);
  }

  /** Its endpoint is given up: the webhook is disabled, and its owner gets an event. */
  async #disable(queue: EndpointQueue, reason: EndpointEnd): Promise<void> {
    const { engine, owner, now } = this.#deps;
    try {
      await this.#writer.catchUp();
      await engine.write((tx) => disableUnderLease(tx, owner, queue.lease, reason, now()));
      queue.invalidate();
    } catch (cause) {
      this.#logFailure('webhook_not_disabled')(cause);
      queue.failDisable();
    }
    this.#advance(queue);
    this.eventsCommitted();
  }

  async #release(queue: EndpointQueue, { state, dueAt }: Action & { kind: 'release' }): Promise<void> {
    const releasing = this.#leases.release(state, dueAt);
    if (await releasing.catch(this.#logFailure('webhook_lease_not_released'))) return this.#drop(queue);
    queue.invalidate();
    this.#advance(queue);
  }

  // The sweep: leases, webhooks that are due, and changes by other processes.

  async #sweep(): Promise<void> {
    const clockLead = this.#deps.now() - this.#deps.monotonic();
    if (clockLead < this.#clockLead - clockSlackMs) this.#isClockSetBack = true;
    this.#clockLead = clockLead;
    if (this.#isClockSetBack) await this.#endWaits();
    await this.#renew();
    const { leases, hasMore } = await this.#leases.takeDue();
    for (const lease of leases) this.#load(lease);
    await Promise.all(this.#loading.values());
    await this.#rebalance();
    this.#deps.hosts.prune();
    this.#deps.metrics.chatQueues(this.#queues.values().reduce((sum, { chats }) => sum + chats.size, 0));
    if (hasMore) void this.webhooksChanged();
  }

  /** After the clock was set back, stored retry times lie too far ahead. Makes them due now. */
  async #endWaits(): Promise<void> {
    const { engine, now, log } = this.#deps;
    await this.#writer.catchUp();
    const at = now();
    const webhooks = await engine.write((tx) =>
      endWaitsAfterClockSetBack(tx, at + clockSlackMs, at + retryPolicy.maxRetryAfter),
    );
    this.#isClockSetBack = false;
    if (webhooks > 0) log.write('warn', 'clock_set_back', { webhooks });
  }

  async #renew(): Promise<void> {
    // A lease that is taken meanwhile may be missing from what is renewed.
    const queues = [...this.#queues.values()];
    const renewed = await this.#leases.renew();
    if (!renewed) return;
    const { states, since } = renewed;
    const numbers = new Map(states.map((state) => [state.webhook_id, state.lease_number]));
    for (const queue of queues) {
      if (numbers.get(queue.webhookId) === queue.leaseNumber) queue.lease.term.extend(since);
      else this.#drop(queue);
    }
    await this.#compare(states, since);
  }

  /** Takes in what other processes created, or transferred, for webhooks of this one. */
  async #gather(): Promise<void> {
    await Bun.sleep(gatherMs);
    const states = await this.#leases.held();
    if (states.every((state) => this.#queues.has(state.webhook_id))) await this.#compare(states, 0);
    else await this.#renew();
  }

  /** Compares the queues with the database, and adds what they miss. */
  async #compare(states: readonly EndpointStateRow[], since: number): Promise<void> {
    const behind = states.flatMap((state) => {
      const queue = this.#queues.get(state.webhook_id);
      const known = queue?.compare(state);
      if (queue && known) return [{ state, queue, known }];
      if (queue) this.#advance(queue);
      // It was transferred to this process, or could not be read when its lease was taken.
      else this.#load(this.#leases.leaseOf(state, since));
      return [];
    });
    if (behind.length === 0) return;
    const known = behind.map((one) => one.known);
    const read = Map.groupBy(await openSince(this.#deps.engine, known), (delivery) => delivery.webhook_id);
    for (const { state, queue } of behind) {
      // Some may be known by now, and more may have been created than the state counts.
      this.#accept({ state, deliveries: queue.missing(state, read.get(state.webhook_id) ?? []) }, since);
    }
  }

  /** Transfers what is above this process' share. Webhooks without attempts in flight go first. */
  async #rebalance(): Promise<void> {
    if (this.#isStopping) return;
    const targets = await this.#leases.rebalance();
    const queues = [...this.#queues.values()]
      .filter((queue) => queue.isOurs && !this.#loading.has(queue.webhookId))
      .sort((a, b) => a.usage.inFlight - b.usage.inFlight || a.lastActiveAt - b.lastActiveAt)
      .slice(0, targets.length);
    const transferred = await Promise.all(queues.map((queue, i) => this.#transfer(queue, targets[i] ?? '')));
    if (transferred.includes(true)) this.#deps.notifyNodes();
  }

  async #transfer(queue: EndpointQueue, to: string): Promise<boolean> {
    queue.setHalted(true);
    await untilIdle(queue.usage, transferMs);
    if (queue.hasUnwritten) await this.#writer.catchUp();
    if (queue.usage.inFlight === 0 && !queue.hasUnwritten && !queue.hasEnded) {
      const transferring = this.#leases.transfer(queue.lease, to);
      const isTransferred = await transferring.catch(this.#logFailure('webhook_lease_not_transferred'));
      // After an error nobody knows whose lease it is: the next sweep reads it if it is still ours.
      if (isTransferred !== false) this.#drop(queue);
      if (isTransferred) return true;
    }
    queue.setHalted(false);
    this.#advance(queue);
    return false;
  }
}

/** Waits until no attempt is in flight, but at most `ms`. */
async function untilIdle(limited: { readonly inFlight: number }, ms: number): Promise<void> {
  const timeout = AbortSignal.timeout(ms);
  while (limited.inFlight > 0 && !timeout.aborted) await Bun.sleep(5);
}
