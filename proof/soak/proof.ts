import { check } from '../chaos/check.ts';
import { Owner } from '../chaos/owner.ts';
import { pause } from '../chaos/pause.ts';
import { readMessages } from '../chaos/stage.ts';
import type { Ledger } from './ledger.ts';
import type { Log } from './log.ts';
import type { Scene } from './scene.ts';

/** Once the load is over everything is delivered within this time; after a part of it the owner hurries what waits. */
const catchUpMs = 120_000;
const patienceMs = 10_000;

export interface Proof {
  /** Messages that are there. */
  readonly found: number;
  readonly broken: readonly string[];
}

/** Holds everything that the server answered for against what is there and what was delivered, once the load is over. */
export async function prove(scene: Scene, log: Log, ledgers: readonly Ledger[]): Promise<Proof> {
  const owner = new Owner(scene.people.owner);
  const late = await catchUp(owner);
  await log.readOn();
  for (const ledger of ledgers) ledger.settle(true);
  const found = await readMessages(scene.people.owner, [...scene.groups, scene.quiet]);
  const acknowledged = [...scene.acknowledged.values()];
  const verdict = check({ acknowledged, changes: scene.changes, found, log: log.events, told: [] });
  const broken = [...late, ...verdict.broken];
  for (const { entry, broken: lines } of ledgers) {
    const unhappy = await owner.unhappy(entry.webhookId, AbortSignal.timeout(catchUpMs));
    broken.push(...lines, ...unhappy.map((line) => `${entry.name}: ${line}`));
  }
  return { found: found.length, broken };
}

/** Waits until the server says that nothing is left to deliver. Answers in words what is. */
async function catchUp(owner: Owner): Promise<string[]> {
  const began = performance.now();
  const end = AbortSignal.timeout(catchUpMs);
  for (;;) {
    const behind = await owner.behind(AbortSignal.timeout(catchUpMs));
    if (behind.length === 0) return [];
    if (end.aborted) return behind.map(({ url }) => `${url} was not told everything within ${catchUpMs / 1_000} s`);
    const isPatient = performance.now() - began < patienceMs;
    for (const webhook of isPatient ? [] : behind) await owner.hurry(webhook, end).catch(ifNotOver(end));
    await pause(1_000, end);
  }
}

/** What the time cuts short is told by the next look. */
const ifNotOver = (end: AbortSignal) => (error: Error) => {
  if (!end.aborted) throw error;
};
