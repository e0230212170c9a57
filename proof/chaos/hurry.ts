import type { Owner } from './owner.ts';
import { pause } from './pause.ts';
import { stream } from './random.ts';

/** An endpoint that fails time and again would soon be left alone for minutes: somebody has it tried before, as its owner can. */
export async function hurryNowAndThen(owner: Owner, url: string, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'hurries');
  while (!end.aborted) {
    await pause(1_000 + 3_000 * random(), end);
    try {
      const webhook = (await owner.behind(end)).find((one) => one.url === url);
      if (webhook) await owner.hurry(webhook, end);
    } catch (error) {
      if (!end.aborted) throw error;
    }
  }
}
