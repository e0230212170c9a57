import type { Life } from '../lives.ts';
import { pause } from '../pause.ts';
import type { Scene } from './trial.ts';

/** Troubles that more than one fault makes. */

/** How a node's life ends: killed at once, or asked to stop. */
export interface PlannedLife extends Life {
  readonly ends: 'killed' | 'stopped';
  /** Until it is started again. */
  readonly awayMs: number;
}

/** Some time that a server is there, and some that it is away. */
export interface Outage {
  readonly upMs: number;
  readonly awayMs: number;
}

export interface DatabaseOutage extends Outage {
  readonly mode: 'fast' | 'immediate';
}

/** A node lives and dies as planned. Whoever wants it up afterwards has to wait for that. */
export async function liveAndDie(
  { nodes, tally }: Scene,
  number: number,
  lives: readonly PlannedLife[],
  end: AbortSignal,
): Promise<void> {
  for (const { since, ms, ends, awayMs } of lives) {
    if (end.aborted) return;
    if (since === 'healthy') await nodes.untilUp(number, end);
    await pause(ms, end);
    tally.count(ends === 'killed' ? 'kills of a server' : 'stops of a server');
    await (ends === 'killed' ? nodes.kill(number) : nodes.stop(number));
    await pause(awayMs, end);
    nodes.begin(number);
  }
}

export async function loseNats({ nats, tally }: Scene, outages: readonly Outage[], end: AbortSignal): Promise<void> {
  for (const { upMs, awayMs } of outages) {
    await pause(upMs, end);
    if (end.aborted) return;
    tally.count('times that NATS was away');
    await nats?.stop();
    await pause(awayMs, end);
    await nats?.start();
  }
}

export async function restartDatabase(
  { database, tally }: Scene,
  outages: readonly DatabaseOutage[],
  end: AbortSignal,
): Promise<void> {
  for (const { upMs, awayMs, mode } of outages) {
    await pause(upMs, end);
    if (end.aborted) return;
    tally.count(mode === 'fast' ? 'restarts of PostgreSQL, in order' : 'restarts of PostgreSQL, by a crash');
    await database?.restart(mode, awayMs, end);
  }
}
