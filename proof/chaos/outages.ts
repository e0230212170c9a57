import { pause } from '../harness/wait.ts';
import type { Scene } from './scenario.ts';
import type { DatabaseOutage, Outage, PlannedLife } from './schedule.ts';

/** Runs a server through its planned lives. Afterwards it may still be starting. */
export async function runLives(
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

export async function cutNats({ nats, tally }: Scene, outages: readonly Outage[], end: AbortSignal): Promise<void> {
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
