import type { EngineMeasure } from '../../engines.ts';
import { indexed, pagesOf, usersWithFilledChat } from '../../fixtures.ts';
import { type Request, sendMessage } from '../../parley.ts';
import { measureCurve } from './curve.ts';

/** More concurrent clients. One alone waits for each response, so the rate rises first; it must not fall again. */
export const measureConnectionGrowth: EngineMeasure = async ({ title, start }, plan) => {
  await using parley = await start();
  const { users, chat } = await usersWithFilledChat(parley, plan.sizes.chat);
  const { middle } = await pagesOf(parley, users, chat);
  const curve = (what: string, requests: readonly Request[]) => {
    const racer = { ...parley.racer(requests), afterRound: indexed(parley) };
    const racers = plan.sizes.growth.connections.map((x) => ({ x, racer: { ...racer, connections: x } }));
    return measureCurve({ what: `${what}, ${title}`, along: 'connections', racers, from: 'best' }, plan);
  };
  const sends = users.map((user) => sendMessage(user, chat));
  return [await curve('get_messages', middle), await curve('send_message', sends)];
};
