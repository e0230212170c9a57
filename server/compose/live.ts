import type { UserId } from '@parley/contract';
import type { Settings } from '../config.ts';
import { Streams } from '../live/streams.ts';
import type { LogDeps } from '../log/membership.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Services } from '../operations/operation.ts';
import { joinNodes, type NodeListener, type Nodes } from './nodes.ts';
import { chance, type Runtime } from './runtime.ts';

export interface Live {
  readonly streams: Streams;
  readonly nodes: Nodes;
  readonly services: Pick<Services, 'openStream' | 'signal'>;
  /** Ends the streams of these users whose access has ended, in all processes. */
  accessEnded(userIds: readonly UserId[]): Promise<void>;
}

/** Builds the live streams, and passes each commit to the consumers of the log here and in other processes. */
export function buildLive(
  settings: Settings,
  runtime: Runtime,
  deps: LogDeps,
  key: Uint8Array,
  listener: NodeListener,
  metrics: Metrics,
  log: Log,
): Live {
  const { now, random } = runtime;
  const streams = new Streams({
    ...runtime,
    ...deps,
    chance: () => chance(runtime),
    maxStreams: settings.streamLimit,
    log,
    gauges: metrics,
  });
  const { engine, eventLog } = deps;
  const nodes = joinNodes(settings, key, { ...listener, eventLog, streams, random, log, metrics });
  engine.committed = (batch) => {
    eventLog.committed(batch);
    nodes.committed(batch);
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
    accessEnded: async (userIds) => {
      nodes.accessEnded(userIds);
      await streams.accessEnded(userIds);
    },
  };
}
