import { stream } from '../../harness/random.ts';
import { receiverProcess } from '../../harness/receiver-process.ts';
import { pause } from '../../harness/wait.ts';
import { beside, endpointOf, hurryNowAndThen, type Scenario } from '../scenario.ts';

const maxAwayMs = 500;

export const killReceiver: Scenario<'kills'> = {
  summary: 'kill -9 of the process that receives a webhook, in the midst of requests',
  seconds: 20,
  settings: { kills: { summary: 'kills of the endpoint', fallback: 8 } },
  endpoint: receiverProcess,
  isHurried: true,
  disturb: async (scene, { kills }, outOfTime) => {
    const { seed, ms, tally } = scene;
    const random = stream(seed, 'kills');
    const endpoint = endpointOf(scene, 'all');
    await beside(
      outOfTime,
      (end) => hurryNowAndThen(scene, endpoint.url, end),
      async (end) => {
        for (let i = 0; i < kills && !end.aborted; i++) {
          await pause(((2 * ms) / kills) * random(), end);
          tally.count('kills of an endpoint');
          await endpoint.close();
          await pause(maxAwayMs * random(), end);
          await endpoint.open();
        }
      },
    );
  },
};
