import type { UserId } from '@parley/contract';
import type { Wake } from '../bus/wake.ts';
import type { Settings } from '../config.ts';
import { Streams } from '../events/streams.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Services } from '../operations/operation.ts';
import type { Engine } from '../store/engine.ts';
import { joinNodes, type NodeParts, type Nodes } from './nodes.ts';
import { chance, type World } from './world.ts';

export interface Live {
  readonly streams: Streams;
  readonly nodes: Nodes;
  readonly services: Pick<Services, 'openStream' | 'signal'>;
  /** Ends the streams of these users whose access has ended, here and elsewhere. */
  ended(userIds: readonly UserId[]): Promise<void>;
}

/** What tells of changes as they happen: to those who follow the log here, to those who listen, and to other processes. */
export function buildLive(
  settings: Settings,
  world: World,
  engine: Engine,
  key: Uint8Array,
  wake: Wake,
  hearing: Pick<NodeParts, 'forget' | 'webhooksChanged' | 'uploadWanted'>,
  metrics: Metrics,
  log: Log,
): Live {
  const { now, monotonic, sweepMs, quietMs, stallMs } = world;
  const most = settings.streamLimit;
  const draw = () => chance(world);
  const times = { now, monotonic, sweepMs, quietMs, stallMs };
  const streams = new Streams({ engine, ...times, chance: draw, most, log, gauges: metrics });
  const nodes = joinNodes(settings, key, {
    ...hearing,
    streams,
    wake: () => wake.call(),
    random: world.random,
    log,
    metrics,
  });
  engine.committed = (stretch) => {
    wake.call();
    streams.committed(stretch);
    nodes.committed(stretch);
  };
  return {
    streams,
    nodes,
    services: {
      openStream: (query) => streams.open(query),
      signal: (signal) => {
        const at = now();
        streams.signal(signal, at);
        nodes.signal(signal, at);
      },
    },
    ended: async (userIds) => {
      nodes.ended(userIds);
      await streams.accessEnded(userIds);
    },
  };
}
