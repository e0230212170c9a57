import { ownerIn } from '../frame/look.ts';
import type { Trial } from '../frame/trial.ts';
import { hurryNowAndThen } from '../hurry.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import { ReceiverProcess } from '../receiver-process.ts';

/** So long nobody listens at most. */
const awayMs = 500;

export const killReceiver: Trial<'kills'> = {
  summary: 'kill -9 of the process that a webhook leads to, in the midst of requests',
  seconds: 20,
  settings: { kills: { summary: 'kills of the endpoint', fallback: 8 } },
  endpoint: (port) => new ReceiverProcess(port),
  isHurried: true,
  wreak: async (scene, { kills }, outOfTime) => {
    const { seed, ms, endpoints, tally } = scene;
    const random = stream(seed, 'kills');
    const over = new AbortController();
    const end = AbortSignal.any([outOfTime, over.signal]);
    const owner = ownerIn(scene);
    const hurrying = hurryNowAndThen(owner, endpoints.all.url, seed, end);
    try {
      for (let i = 0; i < kills && !end.aborted; i++) {
        await pause(((2 * ms) / kills) * random(), end);
        tally.count('kills of an endpoint');
        await endpoints.all.close();
        await pause(awayMs * random(), end);
        await endpoints.all.open();
      }
    } finally {
      over.abort();
      await hurrying;
    }
    return undefined;
  },
};
