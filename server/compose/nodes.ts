import { type ChatSignal, type OwnerSignal, signalTable, type UserId } from '@parley/contract';
import { type Bus, noBus, type Topic } from '../bus/bus.ts';
import { Envelopes } from '../bus/envelope.ts';
import { NatsBus } from '../bus/nats.ts';
import type { Settings } from '../config.ts';
import { SealedBox } from '../lib/sealed-box.ts';
import type { LivePresence } from '../live/presence.ts';
import type { Streams } from '../live/streams.ts';
import { decodeBatch, encodeBatch } from '../log/batch-codec.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { LogBatch } from '../store/engine/engine.ts';
import { deriveKey } from './core.ts';

/** Notifies the other processes on the same database. */
export interface Nodes {
  committed(batch: LogBatch): void;
  signal(signal: ChatSignal, at: number): void;
  /** A signal for the streams of one user. */
  signalTo(userId: UserId, signal: OwnerSignal, at: number): void;
  presence(text: string): void;
  accessEnded(userIds: readonly UserId[]): void;
  webhooksChanged(): void;
  wantUpload(key: string): void;
  stop(): Promise<void>;
}

/** Acts on the notifications of other processes. */
export interface NodeListener {
  /** Empties caches of these users' access. */
  readonly forgetUsers: (userIds: readonly UserId[]) => void;
  readonly webhooksChanged: () => void;
  readonly uploadWanted: (key: string) => void;
}

interface NodeDeps extends NodeListener {
  readonly eventLog: EventLog;
  readonly streams: Streams;
  readonly presence: LivePresence;
  readonly random: (bytes: number) => Uint8Array;
  readonly now: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface SignalMessage {
  readonly at: number;
  readonly signal: ChatSignal | OwnerSignal;
  /** The user, if it is not for a chat. */
  readonly to?: UserId;
}

export function joinNodes({ natsUrl }: Settings, key: Uint8Array, deps: NodeDeps): Nodes {
  const bus = natsUrl ? connectNats(natsUrl, key, deps) : noBus;
  return {
    committed: (batch) => {
      if (bus !== noBus) for (const text of encodeBatch(batch)) bus.publish('committed', text);
    },
    signal: (signal, at) => bus.publish('signal', JSON.stringify({ at, signal })),
    signalTo: (to, signal, at) => bus.publish('signal', JSON.stringify({ at, signal, to })),
    presence: (text) => bus.publish('presence', text),
    accessEnded: (userIds) => bus.publish('ended', JSON.stringify(userIds)),
    webhooksChanged: () => bus.publish('webhooks', ''),
    wantUpload: (upload) => bus.publish('uploads', upload),
    stop: () => bus.stop(),
  };
}

/** Several services may share a NATS. Processes with the same key, which are those on one database, form a group. */
function connectNats(url: NonNullable<Settings['natsUrl']>, key: Uint8Array, deps: NodeDeps): Bus {
  const { eventLog, streams, presence, forgetUsers, webhooksChanged, uploadWanted, random, now, log, metrics } = deps;
  const name = Buffer.from(deriveKey(key, 'name of nodes')).toString('hex').slice(0, 16);
  const box = new SealedBox(deriveKey(key, 'what nodes tell each other'), random);
  const reported = new Set<Topic>();
  return new NatsBus(url, name, new Envelopes({ box, random, now }), {
    messages: {
      committed: (text) => {
        const batch = decodeBatch(text);
        if (batch) eventLog.committed(batch);
        else eventLog.poll();
      },
      signal: (text) => {
        const { at, signal, to } = JSON.parse(text) as SignalMessage;
        // A newer server may have signals that this one does not know.
        if (!signalTable[signal.event]?.data.safeParse(signal.data).success) return;
        if ('webhook_id' in signal.data) streams.signalTo(Number(to) as UserId, signal as OwnerSignal, Number(at));
        else streams.signal(signal as ChatSignal, Number(at));
      },
      presence: (text) => presence.hear(text),
      ended: (text) => {
        const userIds = JSON.parse(text) as UserId[];
        forgetUsers(userIds);
        void streams.accessEnded(userIds);
        webhooksChanged();
      },
      webhooks: webhooksChanged,
      uploads: uploadWanted,
    },
    connected: () => {
      metrics.busConnected(true);
      log.write('info', 'nats_connected');
      eventLog.poll();
      webhooksChanged();
      void streams.recheck();
      presence.busConnected();
    },
    rejected: (topic, cause) => {
      if (!reported.has(topic)) log.write('warn', 'nats_message_rejected', { topic, cause });
      reported.add(topic);
    },
    disconnected: (cause) => {
      metrics.busConnected(false);
      log.write('warn', 'nats_disconnected', { cause });
    },
  });
}
