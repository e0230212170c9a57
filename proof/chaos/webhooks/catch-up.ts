import type { Webhook } from '@parley/contract';
import type { Owner } from '../owner.ts';
import { pause } from '../pause.ts';
import type { Receiver } from '../receiver.ts';
import type { Tap } from './tap.ts';
import type { Traffic } from './traffic.ts';

/**
 * An endpoint that is well and has something coming gets something within this time. A request that hung before may still
 * take its 15 s, and on PostgreSQL the leases of a dead process 5 s.
 */
const silenceMs = 25_000;

/** Where nothing comes to anybody for so long, nothing will. */
const stuckMs = 60_000;

/** Nearer to the present than this, a webhook has caught up. */
const nearSeconds = 1;

export interface CatchUpParts {
  readonly owner: Owner;
  readonly receivers: Readonly<Record<string, Receiver>>;
  readonly traffic: Traffic;
  /** What is sent meanwhile, and over which time: it keeps the server busy with those that have caught up. */
  readonly heldBack: number;
  readonly heldBackMs: number;
  readonly tap: Tap;
}

/** How long each endpoint has got nothing although there was something for it. */
class Silences {
  readonly #receivers: Readonly<Record<string, Receiver>>;
  readonly #heard = new Map<string, { count: number; at: number }>();

  constructor(receivers: Readonly<Record<string, Receiver>>) {
    this.#receivers = receivers;
  }

  /** Up to now; to be asked often. */
  soFar(behind: readonly Webhook[]): { readonly name: string; readonly ms: number }[] {
    const now = performance.now();
    return Object.entries(this.#receivers).map(([name, { url, acceptedCount: count }]) => {
      const last = this.#heard.get(name);
      const waits = behind.some((webhook) => webhook.url === url);
      const at = waits && last?.count === count ? last.at : now;
      this.#heard.set(name, { count, at });
      return { name, ms: now - at };
    });
  }
}

/**
 * Everything is well again: waits until the server says that nothing is left to deliver, and has the owner hurry what waits
 * for a later time. Some messages are sent meanwhile. Answers in words what did not go well.
 */
export async function catchUp(parts: CatchUpParts, end: AbortSignal): Promise<string[]> {
  const { owner, receivers, traffic, tap } = parts;
  const silences = new Silences(receivers);
  const left = new Set<string>();
  tap.open(parts.heldBack, parts.heldBackMs, 0);
  while (!end.aborted) {
    const behind = await owner.behind(end);
    if (behind.length === 0 && traffic.isOver) break;
    if (behind.every(({ oldest_undelivered_age }) => (oldest_undelivered_age ?? 0) <= nearSeconds)) tap.open(0, 0, 0);
    const lasting = silences.soFar(behind);
    for (const { name, ms } of lasting) if (ms > silenceMs) left.add(name);
    if (lasting.some(({ ms }) => ms > stuckMs)) break;
    for (const webhook of behind) await owner.hurry(webhook, end);
    await pause(500, end);
  }
  return [...left].map((name) => `${name}: was told nothing for more than ${silenceMs / 1_000} s while it was well`);
}
