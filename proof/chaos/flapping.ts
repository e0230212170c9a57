import type { Mood } from './moods.ts';
import { pause } from './pause.ts';
import { pick, type Random } from './random.ts';
import type { Receiver } from './receiver.ts';

interface Phase {
  readonly mood: Mood;
  /** Milliseconds. */
  readonly least: number;
  readonly most: number;
}

const good: Phase = { mood: 'fine', least: 500, most: 4_000 };

const trouble: readonly [Phase, ...Phase[]] = [
  { mood: 'refusing', least: 200, most: 1_500 },
  { mood: 'resetting', least: 100, most: 1_000 },
  // What hangs stays so after the phase, until the sender gives up or is killed.
  { mood: 'hanging', least: 100, most: 1_000 },
  { mood: 'slow', least: 500, most: 3_000 },
  { mood: 'wavering', least: 500, most: 3_000 },
  { mood: 'talking nonsense', least: 100, most: 1_000 },
  { mood: 'redirecting', least: 200, most: 1_500 },
  { mood: 'dripping', least: 200, most: 1_500 },
  { mood: 'gushing', least: 200, most: 1_500 },
];

/** Has an endpoint in good order and in trouble by turns, until the end; then it is fine. */
export async function flap(receiver: Receiver, random: Random, end: AbortSignal): Promise<void> {
  for (let turn = 0; !end.aborted; turn++) {
    const phase = turn % 2 === 0 ? good : pick(random, trouble);
    receiver.mood = phase.mood;
    await pause(phase.least + (phase.most - phase.least) * random(), end);
  }
  receiver.mood = 'fine';
}
