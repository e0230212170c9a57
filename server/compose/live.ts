import type { UserId } from '@parley/contract';
import { DeliverySignals } from '../live/delivery-signals.ts';
import { LivePresence } from '../live/presence.ts';
import { Streams } from '../live/streams.ts';
import type { Services } from '../operations/operation.ts';
import type { Core } from './core.ts';
import { joinNodes, type NodeListener, type Nodes } from './nodes.ts';
import { chance } from './runtime.ts';

export interface Live {
  readonly streams: Streams;
  readonly presence: LivePresence;
  readonly nodes: Nodes;
  readonly services: Pick<Services, 'openStream' | 'signal' | 'deliveriesChanged' | 'presence'>;
  /** Ends the streams of these users whose access has ended, in all processes. */
  accessEnded(userIds: readonly UserId[]): Promise<void>;
}

/** Builds the live streams, and passes each commit to the consumers of the log here and in other processes. */
export function buildLive(core: Core, listener: NodeListener): Live {
  const { settings, runtime, engine, eventLog, membership, metrics, log } = core;
  const { now, random } = runtime;
  const streams: Streams = new Streams({
    ...runtime,
    engine,
    eventLog,
    membership,
    chance: () => chance(runtime),
    maxStreams: settings.streamLimit,
    changed: (userId) => presence.changedHere(userId),
    log,
    gauges: metrics,
  });
  const presence: LivePresence = new LivePresence({
    ...runtime,
    ...{ engine, log, streams },
    node: Buffer.from(random(9)).toString('base64url'),
    publish: (text) => nodes.presence(text),
  });
  const nodes: Nodes = joinNodes(settings, core.key, {
    ...listener,
    ...{ eventLog, streams, presence, random, now, log, metrics },
  });
  const deliverySignals = new DeliverySignals({
    isHeard: (userId) => presence.hasStream(userId),
    send: (userId, signal) => {
      const at = now();
      streams.signalTo(userId, signal, at);
      nodes.signalTo(userId, signal, at);
    },
  });
  engine.committed = (batch) => {
    eventLog.committed(batch);
    nodes.committed(batch);
  };
  return {
    streams,
    presence,
    nodes,
    services: {
      openStream: (query) => streams.open(query),
      signal: (signal) => {
        const at = now();
        streams.signal(signal, at);
        nodes.signal(signal, at);
      },
      deliveriesChanged: (userId, webhookId) => deliverySignals.changed(userId, webhookId),
      presence: {
        of: (userId) => presence.of(userId),
        setAway: (...change) => presence.setAway(...change),
        recheck: (userId) => presence.recheck(userId),
      },
    },
    accessEnded: async (userIds) => {
      nodes.accessEnded(userIds);
      await streams.accessEnded(userIds);
    },
  };
}
