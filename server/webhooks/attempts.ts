import type { Log } from '../observe/log.ts';
import type { Engine } from '../store/engine.ts';
import type { EndpointEnd } from '../store/webhook-ends.ts';
import { Bodies, type Body } from './bodies.ts';
import type { Outcome } from './client.ts';
import type { Drive } from './drive.ts';
import { errorOf, isSuccess, judge, type Verdict } from './health.ts';
import type { Entry, Lane } from './lane.ts';
import type { Recorder } from './recorder.ts';
import { allowMore, slowMs } from './slots.ts';

/** What is told of deliveries to whoever measures. */
export interface Gauges {
  attempted(outcome: string, seconds: number): void;
  settled(state: string, count: number): void;
  /** From the commit of an event to its first attempt. */
  lag(seconds: number): void;
  lanes(open: number): void;
}

export interface AttemptParts {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: () => number;
  readonly send: (drive: Drive, entry: Entry, body: string, at: number) => Promise<Outcome>;
  readonly recorder: Recorder;
  /** What is known of a webhook is out of date. */
  readonly changed: (drive: Drive) => void;
  /** Its endpoint is given up. */
  readonly disable: (drive: Drive, reason: EndpointEnd) => Promise<void>;
  readonly log: Log;
  readonly gauges: Gauges;
}

/** After a fault of our own. It is not the endpoint's, and must not be tried in a loop. */
const faultMs = 5_000;

/** Makes single attempts, and decides what follows from each. */
export class Attempts {
  readonly bodies: Bodies;
  readonly #parts: AttemptParts;
  #closed = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.bodies = new Bodies(parts.engine);
  }

  /** From now on nobody asks what comes of attempts: they are repeated. */
  close(): void {
    this.#closed = true;
  }

  /** Never rejects. */
  make(drive: Drive, lane: Lane, entry: Entry): Promise<void> {
    return this.#make(drive, lane, entry).catch((cause) => {
      // That the database is away is told once, and not for each delivery that waits for it.
      const level = (cause as { code?: unknown }).code === 'unavailable' ? 'debug' : 'error';
      this.#parts.log.write(level, 'delivery not attempted', { delivery_id: entry.deliveryId, cause });
      entry.nextAt = this.#parts.now() + faultMs;
    });
  }

  async #make(drive: Drive, lane: Lane, entry: Entry): Promise<void> {
    const { now, random, gauges } = this.#parts;
    const kept = this.bodies.get(entry.eventId);
    const body = kept instanceof Promise ? await kept : kept;
    if (!drive.isOurs) return;
    if (!body) {
      // Dropped while it waited; whoever dropped it has also settled the delivery.
      entry.nextAt = now() + faultMs;
      this.#parts.changed(drive);
      return;
    }
    const at = now();
    this.#measureLag(entry, body, at);
    const outcome = await this.#parts.send(drive, entry, body.text, at);
    if (drive.ended || this.#closed) return;
    gauges.attempted(labelOf(outcome), outcome.ms / 1_000);
    const ended = now();
    const verdict = judge(drive.health, { entry, outcome, startedAt: at, now: ended, random });
    allowMore(drive, isSuccess(outcome) && outcome.ms <= slowMs);
    this.#record(drive, entry, at, outcome, verdict);
    entry.attempts++;
    entry.refusals = verdict.refusals;
    entry.lastAt = at;
    entry.nextAt = verdict.nextAt ?? 0;
    drive.setHealth(verdict.health, ended);
    if (verdict.state !== 'retrying') {
      drive.settle(lane);
      gauges.settled(verdict.state, 1);
    }
    if (verdict.disable) await this.#parts.disable(drive, verdict.disable);
  }

  #measureLag({ attempts, replayId }: Entry, body: Body, at: number): void {
    if (attempts === 0 && replayId === 0) this.#parts.gauges.lag(Math.max(0, at - body.at) / 1_000);
  }

  #record(drive: Drive, entry: Entry, at: number, outcome: Outcome, verdict: Verdict): void {
    const before = drive.health;
    const after = verdict.health;
    const isChanged = after.down_since !== before.down_since || after.hold_until !== before.hold_until;
    const status = outcome.kind === 'answered' ? outcome.status : null;
    this.#parts.recorder.add({
      drive,
      leaseNumber: drive.leaseNumber,
      replayId: entry.replayId,
      health: isChanged ? after : undefined,
      result: {
        delivery_id: entry.deliveryId,
        state: verdict.state,
        attempts: entry.attempts + 1,
        refusals: verdict.refusals,
        next_at: verdict.nextAt,
        at,
        status,
        error: errorOf(outcome),
        duration_ms: Math.round(outcome.ms),
        answer: outcome.kind === 'answered' ? outcome.answer : null,
      },
    });
    if (!this.#parts.log.enabled('info')) return;
    this.#parts.log.write('info', 'delivery', {
      webhook_id: drive.webhookId,
      delivery_id: entry.deliveryId,
      event_id: entry.eventId,
      attempt: entry.attempts + 1,
      state: verdict.state,
      status,
      failure: outcome.kind === 'unreached' ? outcome.failure : undefined,
      ms: outcome.ms,
    });
  }
}

function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'unreached') return outcome.failure;
  return isSuccess(outcome) ? 'delivered' : `${Math.floor(outcome.status / 100)}xx`;
}
