import { UsageError } from '../harness/arguments.ts';
import { type EngineMeasure, type EngineName, onEngine } from './engines.ts';
import { measureCluster } from './measure/cluster.ts';
import { measureCpu } from './measure/cpu.ts';
import { measureDrain } from './measure/drain.ts';
import { measureExpensive } from './measure/expensive.ts';
import { measureFiles } from './measure/files.ts';
import { measureChatGrowth } from './measure/growth/chats.ts';
import { measureConnectionGrowth } from './measure/growth/connections.ts';
import { measureDeliveryGrowth } from './measure/growth/deliveries.ts';
import { measureMessageGrowth } from './measure/growth/messages.ts';
import { measureWebhookGrowth } from './measure/growth/webhooks.ts';
import { measureIdleWebhooks } from './measure/idle-webhooks.ts';
import { measureLag } from './measure/lag.ts';
import { measureLagFloor } from './measure/lag-floor.ts';
import { measureCliff, measureGet } from './measure/pages.ts';
import { measurePresence } from './measure/presence.ts';
import { measurePush } from './measure/push.ts';
import { measureSearch } from './measure/search.ts';
import { measureSend } from './measure/send.ts';
import { measureSlowDisk } from './measure/slow-disk.ts';
import { measureStart } from './measure/start.ts';
import { measureStored } from './measure/stored.ts';
import { measureStreams } from './measure/streams.ts';
import { measureTokenCheck } from './measure/token-check.ts';
import { measurementNames, usualNames } from './names.ts';
import type { Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';

type Measure = (plan: Plan) => Promise<Outcome[]>;

const single: Readonly<Record<string, Measure>> = {
  cpu: measureCpu,
  stored: measureStored,
  'token-check': measureTokenCheck,
  cliff: measureCliff,
  'lag-floor': measureLagFloor,
  'idle-webhooks': measureIdleWebhooks,
  files: measureFiles,
  'slow-disk': measureSlowDisk,
  cluster: measureCluster,
};

const perEngine: Readonly<Record<string, EngineMeasure>> = {
  send: measureSend,
  expensive: measureExpensive,
  get: measureGet,
  search: measureSearch,
  drain: measureDrain,
  lag: measureLag,
  streams: measureStreams,
  presence: measurePresence,
  push: measurePush,
  start: measureStart,
  'growth-messages': measureMessageGrowth,
  'growth-webhooks': measureWebhookGrowth,
  'growth-chats': measureChatGrowth,
  'growth-connections': measureConnectionGrowth,
  'growth-deliveries': measureDeliveryGrowth,
};

const measures: ReadonlyMap<string, Measure> = new Map([
  ...Object.entries(single),
  ...Object.entries(perEngine).flatMap(([name, measure]) =>
    (['sqlite', 'postgres'] as const).map((engine: EngineName): [string, Measure] => {
      return [`${name}-${engine}`, (plan) => onEngine(engine, name, measure, plan)];
    }),
  ),
]);

/** Returns the measurements whose name starts with one of the words; `all` means all. */
export function chooseMeasurements(words: readonly string[]): [name: string, measure: Measure][] {
  const startsWith = (word: string) => (name: string) => word === 'all' || name.startsWith(word);
  for (const word of words) {
    if (!measurementNames.some(startsWith(word))) throw new UsageError(`There is no measurement named ${word}`);
  }
  const names =
    words.length === 0 ? usualNames : measurementNames.filter((name) => words.some((word) => startsWith(word)(name)));
  return names.map((name) => {
    const measure = measures.get(name);
    if (!measure) throw new Error(`nothing measures ${name}`);
    return [name, measure];
  });
}
