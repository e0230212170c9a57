import { stream } from '../harness/random.ts';
import { pause } from '../harness/wait.ts';
import { type Scene, webhookOwner } from './scenario.ts';

/** Hurries a webhook every few seconds. Otherwise an endpoint that keeps failing would soon be left alone for minutes. */
export async function hurryNowAndThen(scene: Scene, url: string, end: AbortSignal): Promise<void> {
  const random = stream(scene.seed, 'hurries');
  const owner = webhookOwner(scene);
  while (!end.aborted) {
    await pause(1_000 + 3_000 * random(), end);
    await owner.hurryAll(end, url).catch((error) => {
      if (!end.aborted) throw error;
    });
  }
}
