import { type Signal, signalTable, type UserId } from '@parley/contract';
import { type Bus, silentBus, type Topic } from '../bus/bus.ts';
import { NatsBus } from '../bus/nats.ts';
import type { Settings } from '../config.ts';
import type { Streams } from '../events/streams.ts';
import { parseStretch, stretchTexts } from '../events/stretch-text.ts';
import { SealedBox } from '../lib/sealed-box.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Committed } from '../store/engine.ts';

/** What other processes on the same database are told, and what is done here when they tell it. */
export interface Nodes {
  committed(stretch: Committed): void;
  signal(signal: Signal, at: number): void;
  ended(userIds: readonly UserId[]): void;
  webhooksChanged(): void;
  wantUpload(key: string): void;
  stop(): Promise<void>;
}

/** What is done here when others tell of something. */
export interface NodeParts {
  readonly streams: Streams;
  /** Those who follow the log look. */
  readonly wake: () => void;
  readonly forget: (userIds: readonly UserId[]) => void;
  readonly webhooksChanged: () => void;
  readonly uploadWanted: (key: string) => void;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function joinNodes({ natsUrl }: Settings, key: Uint8Array, parts: NodeParts): Nodes {
  const bus = natsUrl ? connectNats(natsUrl, key, parts) : silentBus;
  return {
    committed: (stretch) => {
      if (bus !== silentBus) for (const text of stretchTexts(stretch)) bus.tell('committed', text);
    },
    signal: (signal, at) => bus.tell('signal', JSON.stringify({ at, signal })),
    ended: (userIds) => bus.tell('ended', JSON.stringify(userIds)),
    webhooksChanged: () => bus.tell('webhooks', ''),
    wantUpload: (upload) => bus.tell('uploads', upload),
    stop: () => bus.stop(),
  };
}

/** Several services may share a NATS: those with the same key, which are those on the same database, hear each other. */
function connectNats(address: NonNullable<Settings['natsUrl']>, key: Uint8Array, parts: NodeParts): Bus {
  const { streams, wake, forget, webhooksChanged, uploadWanted, random, log, metrics } = parts;
  const derive = (use: string) => new Bun.CryptoHasher('sha256', key).update(use).digest();
  const name = Buffer.from(derive('name of nodes')).toString('hex').slice(0, 16);
  const box = new SealedBox(derive('what nodes tell each other'), random);
  const told = new Set<Topic>();
  return new NatsBus(address, name, box, {
    hear: {
      committed: (text) => {
        wake();
        const stretch = streams.isListening ? parseStretch(text) : undefined;
        if (stretch) streams.committed(stretch);
        else streams.look();
      },
      signal: (text) => {
        const { at, signal } = JSON.parse(text) as { at: number; signal: Signal };
        // A newer server may know more of them.
        if (signalTable[signal.event]?.data.safeParse(signal.data).success) streams.signal(signal, Number(at));
      },
      ended: (text) => {
        const userIds = JSON.parse(text) as UserId[];
        forget(userIds);
        void streams.accessEnded(userIds);
        webhooksChanged();
      },
      webhooks: webhooksChanged,
      uploads: uploadWanted,
    },
    connected: () => {
      metrics.busConnected(true);
      log.write('info', 'connected to NATS', {});
      wake();
      webhooksChanged();
      streams.look();
      void streams.recheck();
    },
    strange: (topic, cause) => {
      if (!told.has(topic)) log.write('warn', 'not understood over NATS', { topic, cause });
      told.add(topic);
    },
    lost: (cause) => {
      metrics.busConnected(false);
      log.write('warn', 'NATS is away: other servers are noticed by looking', { cause });
    },
  });
}
