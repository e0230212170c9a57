import { Misuse } from '../chaos/arguments.ts';
import { measureCluster } from './measure/cluster.ts';
import { measureDrain } from './measure/drain.ts';
import { measureFiles } from './measure/files.ts';
import { measureChatGrowth } from './measure/growth/chats.ts';
import { measureConnectionGrowth } from './measure/growth/connections.ts';
import { measureMessageGrowth } from './measure/growth/messages.ts';
import { measureWebhookGrowth } from './measure/growth/webhooks.ts';
import { measureIdleWebhooks } from './measure/idle-webhooks.ts';
import { measureLag } from './measure/lag.ts';
import { measureCliff, measureGet } from './measure/pages.ts';
import { measureSearch } from './measure/search.ts';
import { measureSend } from './measure/send.ts';
import { measureSlowDisk } from './measure/slow-disk.ts';
import { measureStart } from './measure/start.ts';
import { measureStreams } from './measure/streams.ts';
import { measureTokenCheck } from './measure/token-check.ts';
import { type MeasurementName, measurementNames, usualNames } from './names.ts';
import type { Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';

type Measure = (plan: Plan) => Promise<Outcome[]>;

const measures: Readonly<Record<MeasurementName, Measure>> = {
  'send-sqlite': (plan) => measureSend('sqlite', plan),
  'send-postgres': (plan) => measureSend('postgres', plan),
  'token-check': measureTokenCheck,
  'get-sqlite': (plan) => measureGet('sqlite', plan),
  'get-postgres': (plan) => measureGet('postgres', plan),
  'search-sqlite': (plan) => measureSearch('sqlite', plan),
  'search-postgres': (plan) => measureSearch('postgres', plan),
  cliff: measureCliff,
  'drain-sqlite': (plan) => measureDrain('sqlite', plan),
  'drain-postgres': (plan) => measureDrain('postgres', plan),
  'lag-sqlite': (plan) => measureLag('sqlite', plan),
  'lag-postgres': (plan) => measureLag('postgres', plan),
  'idle-webhooks': measureIdleWebhooks,
  files: measureFiles,
  'streams-sqlite': (plan) => measureStreams('sqlite', plan),
  'streams-postgres': (plan) => measureStreams('postgres', plan),
  'slow-disk': measureSlowDisk,
  cluster: measureCluster,
  'start-sqlite': (plan) => measureStart('sqlite', plan),
  'start-postgres': (plan) => measureStart('postgres', plan),
  'growth-messages-sqlite': (plan) => measureMessageGrowth('sqlite', plan),
  'growth-messages-postgres': (plan) => measureMessageGrowth('postgres', plan),
  'growth-webhooks-sqlite': (plan) => measureWebhookGrowth('sqlite', plan),
  'growth-webhooks-postgres': (plan) => measureWebhookGrowth('postgres', plan),
  'growth-chats-sqlite': (plan) => measureChatGrowth('sqlite', plan),
  'growth-chats-postgres': (plan) => measureChatGrowth('postgres', plan),
  'growth-connections-sqlite': (plan) => measureConnectionGrowth('sqlite', plan),
  'growth-connections-postgres': (plan) => measureConnectionGrowth('postgres', plan),
};

/** Those whose name begins with one that is asked for; `all` means all. */
export function chooseMeasurements(asked: readonly string[]): [MeasurementName, Measure][] {
  const begins = (start: string) => (name: string) => start === 'all' || name.startsWith(start);
  for (const start of asked) {
    if (!measurementNames.some(begins(start))) throw new Misuse(`There is no measurement named ${start}`);
  }
  const names: readonly MeasurementName[] =
    asked.length === 0 ? usualNames : measurementNames.filter((name) => asked.some((start) => begins(start)(name)));
  return names.map((name) => [name, measures[name]]);
}
