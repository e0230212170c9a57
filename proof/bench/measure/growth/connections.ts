import { type EngineName, engineTitles, onEngine } from '../../engines.ts';
import { untilIndexed } from '../../fill.ts';
import type { Outcome } from '../../outcome.ts';
import { type Request, sendMessage, startParley } from '../../parley.ts';
import type { Plan } from '../../plan.ts';
import { makeFilledChat, makeUsers, pagesOf } from '../../scene.ts';
import { measureCurve } from './curve.ts';

/** More clients ask at once. One alone waits for each answer, so the rate rises first; it must not fall again. */
export function measureConnectionGrowth(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `more connections, ${title}`, async (fresh) => {
    await using parley = await startParley(await fresh());
    const users = await makeUsers(parley, 4);
    const chat = await makeFilledChat(parley, users, plan.sizes.chat);
    const { middle } = await pagesOf(parley, users, chat);
    const curve = (what: string, requests: readonly Request[]) => {
      const racer = { ...parley.racer(requests), afterRound: async () => void (await untilIndexed(parley.engine)) };
      const racers = plan.sizes.growth.connections.map((x) => ({ x, racer: { ...racer, connections: x } }));
      return measureCurve({ what: `${what}, ${title}`, along: 'connections', racers, from: 'best' }, plan);
    };
    const sends = users.map((user) => sendMessage(user, chat));
    return [await curve('get_messages', middle), await curve('send_message', sends)];
  });
}
