import { SingleFlight } from '../lib/single-flight.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import { findDrive, releaseAll } from '../store/drives.ts';
import { forgetWaits } from '../store/waits.ts';
import { disableForEndpoint, type EndpointEnd } from '../store/webhook-ends.ts';
import { findWebhook, lockWebhooks } from '../store/webhooks.ts';
import { type AttemptParts, Attempts } from './attempts.ts';
import { Backlogs } from './backlogs.ts';
import { ClockWatch, slackMs } from './clock-watch.ts';
import { Dispatcher, type DispatcherDeps } from './dispatcher.ts';
import type { Drive } from './drive.ts';
import type { Filled } from './fill.ts';
import { aheadMs, Fleet } from './fleet.ts';
import { Pump } from './pump.ts';
import { Recorder } from './recorder.ts';
import { retryPolicy } from './retry-policy.ts';

export interface DriverParts
  extends DispatcherDeps,
    Pick<AttemptParts, 'engine' | 'now' | 'random' | 'send' | 'gauges'> {
  /** Calls off the attempts that are under way. */
  readonly callOff: () => void;
  /** Nobody else can have leases on this database. */
  readonly alone: boolean;
  /** How long a lost wake-up may delay. */
  readonly sweepMs: number;
  readonly log: Log;
}

/** What other processes have made is looked for once for so long. */
const gatherMs = 10;

/** Requests that are under way when the process stops get this long, and this much more to notice that they are cut off. */
const drainMs = 3_000;
const cutOffMs = 1_000;

/**
 * Makes the deliveries: the log becomes deliveries, these stand in lanes, and the pump sends what is first in each. What it
 * holds in memory it can read again at any time; everything is in the database. It is woken by commits, and looks by
 * itself where a wake-up was lost.
 */
export class Driver {
  /** Called where other processes have something to take up; they find it in their next look, or when they are nudged. */
  passedOn: () => void = () => {};
  readonly #parts: DriverParts;
  readonly #dispatcher: Dispatcher;
  readonly #recorder: Recorder;
  readonly #fleet: Fleet;
  readonly #backlogs: Backlogs;
  readonly #attempts: Attempts;
  readonly #pump: Pump;
  readonly #dispatching: SingleFlight;
  readonly #looking: SingleFlight;
  readonly #gathering: SingleFlight;
  #sweep: ReturnType<typeof setInterval> | undefined;
  /** Whether the cursor is to be written down although nothing was dispatched. */
  #settling = false;
  #stopping = false;
  readonly #clock: ClockWatch;
  /** The clock was set back, or may have been before we started. */
  #isSetBack = true;

  constructor(parts: DriverParts) {
    const { engine, owner, alone, now, monotonic, log } = parts;
    const failed = (what: string) => (cause: unknown) => log.write('warn', what, { cause });
    this.#parts = parts;
    this.#clock = new ClockWatch(now, monotonic);
    this.#dispatcher = new Dispatcher(parts);
    this.#recorder = new Recorder({
      engine,
      owner,
      now,
      lost: (drive) => this.#fleet.lose(drive),
      overtaken: (drive) => this.#fleet.reload(drive),
      failed: failed('results of deliveries not written down yet'),
    });
    this.#fleet = new Fleet({
      engine,
      owner,
      alone,
      now,
      monotonic,
      attend: (drive) => this.#attend(drive),
      isWanted: (drive) => this.#backlogs.wants(drive),
      writeDown: () => this.#recorder.catchUp(),
      passedOn: () => this.passedOn(),
      failed: failed('webhook not read'),
    });
    this.#backlogs = new Backlogs({
      engine,
      owner,
      now,
      monotonic,
      filled: (drive, filled, since) => this.#take(drive, filled, since),
      changed: (drive) => this.#fleet.reload(drive),
      failed: failed('backlog of a webhook not read'),
    });
    this.#attempts = new Attempts({
      ...parts,
      recorder: this.#recorder,
      changed: (drive) => this.#fleet.reload(drive),
      disable: (drive, reason) => this.#disable(drive, reason),
    });
    this.#pump = new Pump({
      maySend: (drive) => this.#maySend(drive),
      attempt: (drive, lane, entry) => this.#attempts.make(drive, lane, entry),
      ended: (drive, lane) => {
        if (drive.ended) return;
        drive.lastActive = monotonic();
        drive.offer(lane, now());
        this.#attend(drive);
      },
    });
    this.#dispatching = new SingleFlight(
      () => this.#dispatch(),
      new FailureLog(log, 'events not dispatched to webhooks yet'),
    );
    this.#looking = new SingleFlight(() => this.#look(), new FailureLog(log, 'webhooks not looked after'));
    this.#gathering = new SingleFlight(
      () => this.#gather(),
      new FailureLog(log, 'deliveries made elsewhere not taken in yet'),
    );
  }

  async start(): Promise<void> {
    if (this.#parts.alone) await this.#parts.engine.write((tx) => releaseAll(tx, null));
    const look = () => {
      this.#settling = true;
      this.wake();
      void this.nudge();
    };
    this.#sweep = setInterval(look, this.#parts.sweepMs).unref();
    look();
  }

  /** There are new events. */
  wake(): void {
    void this.#dispatching.run();
  }

  /** Something about a webhook was changed. Answers once that is minded. */
  nudge(): Promise<void> {
    return this.#looking.run();
  }

  /** Starts nothing more, gives what is under way a little time, and lets go of everything. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#sweep);
    const rounds = [this.#dispatching, this.#looking, this.#gathering];
    await Promise.all([...rounds.map((round) => round.stop()), this.#fleet.close()]);
    await this.#fleet.leave();
    await this.#untilQuiet(drainMs);
    this.#attempts.close();
    this.#parts.callOff();
    await this.#untilQuiet(cutOffMs);
    try {
      // A database that is away is not waited for: what is not written down is repeated.
      await Promise.race([this.#recorder.flush(), Bun.sleep(drainMs)]);
      await this.#dispatcher.settle();
      await this.#fleet.release();
    } catch (cause) {
      this.#parts.log.write('warn', 'leases of webhooks not given back', { cause });
    }
  }

  async #untilQuiet(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.#pump.underWay > 0 && performance.now() < deadline) await Bun.sleep(5);
  }

  async #dispatch(): Promise<void> {
    // The answers to those who wrote the events go out first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let more = true; more && !this.#stopping; ) {
      const dispatched = await this.#dispatcher.step();
      more = dispatched.more;
      for (const event of dispatched.events) this.#attempts.bodies.keep(event);
      for (const { drive, entries } of dispatched.made) this.#fleet.accept(drive, entries, dispatched.since);
      if (dispatched.overtaken) void this.#gathering.run();
      if (!more && this.#settling) more = await this.#dispatcher.settle();
    }
    this.#settling = false;
  }

  #take(drive: Drive, filled: Filled, since: number): void {
    drive.backlogs = filled.backlogs;
    drive.replays = filled.replays;
    for (const event of filled.events) this.#attempts.bodies.keep(event);
    if (filled.drive?.owner === this.#parts.owner) this.#fleet.accept(filled.drive, filled.entries, since);
    else this.#attend(drive);
  }

  async #look(): Promise<void> {
    if (this.#clock.wentBack()) this.#isSetBack = true;
    if (this.#isSetBack) await this.#forgetWaits();
    const more = await this.#fleet.look();
    this.#parts.gauges.lanes(this.#fleet.laneCount);
    if (more) void this.nudge();
  }

  /** What waits for a time of a clock that was set back would wait for as long as that: it is tried at once. */
  async #forgetWaits(): Promise<void> {
    const { engine, now, log } = this.#parts;
    await this.#recorder.catchUp();
    const at = now();
    const webhooks = await engine.write((tx) => forgetWaits(tx, at + slackMs, at + retryPolicy.mostRetryAfter));
    this.#isSetBack = false;
    if (webhooks > 0) log.write('warn', 'the clock was set back: webhooks that waited are tried again', { webhooks });
  }

  async #gather(): Promise<void> {
    await Bun.sleep(gatherMs);
    await this.#fleet.gather();
  }

  /** Sees to it that what a webhook can send is sent, now or when it is time. */
  #attend(drive: Drive): void {
    if (drive.ended || this.#stopping) return;
    clearTimeout(drive.timer);
    const now = this.#parts.now();
    this.#backlogs.attend(drive);
    drive.offerDue(now);
    if (drive.hasReady && !drive.isHeld(now)) {
      this.#pump.add(drive);
      return;
    }
    const next = drive.nextTime(now);
    if (next === undefined || next >= now + aheadMs) return;
    drive.timer = setTimeout(() => this.#attend(drive), Math.max(0, next - now) + 1);
  }

  #maySend(drive: Drive): boolean {
    const now = this.#parts.now();
    const hasAccess = drive.accessUntil === null || drive.accessUntil > now;
    return drive.isOurs && hasAccess && drive.webhook.status === 'active' && !drive.isHeld(now) && !this.#stopping;
  }

  async #disable(drive: Drive, reason: EndpointEnd): Promise<void> {
    const { engine, owner, now } = this.#parts;
    drive.halted = true;
    try {
      await this.#recorder.catchUp();
      await engine.write(async (tx) => {
        await lockWebhooks(tx);
        const webhook = await findWebhook(tx, drive.webhookId);
        const row = await findDrive(tx, drive.webhookId);
        const isOurs = row?.owner === owner && row.lease_number === drive.leaseNumber;
        if (isOurs && webhook?.status === 'active') await disableForEndpoint(tx, webhook, reason, now());
      });
      await this.#fleet.reread(drive);
    } finally {
      drive.halted = false;
    }
    this.wake();
  }
}
