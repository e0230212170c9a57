import { pause } from '../chaos/pause.ts';
import { pick, stream } from '../chaos/random.ts';
import type { Receiver } from '../chaos/receiver.ts';

/** Well for so long, and then in trouble for so long, in milliseconds. */
const well = { least: 10_000, most: 30_000 };
const ill = { least: 300, most: 1_500 };

/** Has an endpoint refuse or break off everything now and then. Afterwards it is fine. */
export async function troubleNowAndThen(receiver: Receiver, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'trouble');
  const wait = ({ least, most }: { least: number; most: number }) => pause(least + (most - least) * random(), end);
  while (!end.aborted) {
    receiver.mood = 'fine';
    await wait(well);
    receiver.mood = pick(random, ['refusing', 'resetting']);
    await wait(ill);
  }
  receiver.mood = 'fine';
}
