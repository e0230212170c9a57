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
import type { Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';

type Measure = (plan: Plan) => Promise<Outcome[]>;

/** What is measured when nothing is named, by name. */
const usual: Readonly<Record<string, Measure>> = {
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
  lag: measureLag,
  'idle-webhooks': measureIdleWebhooks,
  files: measureFiles,
  streams: measureStreams,
  'slow-disk': measureSlowDisk,
  cluster: measureCluster,
  start: measureStart,
};

/** What takes long, and is measured when it is named. */
const long: Readonly<Record<string, Measure>> = {
  'growth-messages-sqlite': (plan) => measureMessageGrowth('sqlite', plan),
  'growth-messages-postgres': (plan) => measureMessageGrowth('postgres', plan),
  'growth-webhooks-sqlite': (plan) => measureWebhookGrowth('sqlite', plan),
  'growth-webhooks-postgres': (plan) => measureWebhookGrowth('postgres', plan),
  'growth-chats-sqlite': (plan) => measureChatGrowth('sqlite', plan),
  'growth-chats-postgres': (plan) => measureChatGrowth('postgres', plan),
  'growth-connections-sqlite': (plan) => measureConnectionGrowth('sqlite', plan),
  'growth-connections-postgres': (plan) => measureConnectionGrowth('postgres', plan),
};

const all = { ...usual, ...long };

export const measurementNames: readonly string[] = Object.keys(all);

/** Those whose name begins with one that is asked for; `all` means all. */
export function chooseMeasurements(asked: readonly string[]): [string, Measure][] {
  for (const name of asked) {
    if (name !== 'all' && !measurementNames.some((known) => known.startsWith(name))) {
      throw new Error(`there is no ${name}`);
    }
  }
  if (asked.length === 0) return Object.entries(usual);
  return Object.entries(all).filter(([name]) => asked.some((start) => start === 'all' || name.startsWith(start)));
}
