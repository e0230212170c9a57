import { setPriority } from 'node:os';
import { Client } from '../../../server/test/support/client.ts';
import { given, say } from '../../harness/helper.ts';
import { attackers } from './attackers.ts';

/** The process of all attackers. It reports when they are prepared, begins on SIGUSR2, and ends on SIGTERM with a report. */

interface Account {
  readonly token: string;
  readonly userId: number;
}

/** The accounts of each attacker. */
export interface Attacks {
  readonly url: string;
  readonly accounts: Readonly<Record<string, { readonly me: Account; readonly bots: readonly Account[] }>>;
}

/** How often each thing happened, by attacker: `200`, `429`, `deliveries`. */
export type AttackCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

// The database and the person who measures share this core. They are not to wait for attackers, who are elsewhere in reality.
setPriority(10);

const { url, accounts } = await given<Attacks>();
const client = ({ token, userId }: Account) => new Client(url, token, userId);
const counts: Record<string, Record<string, number>> = {};
const beginning = Promise.withResolvers<void>();
const prepared = Object.entries(accounts).map(([name, { me, bots }]) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const own: Record<string, number> = {};
  counts[name] = own;
  const attack = {
    me: client(me),
    bots: bots.map(client),
    begin: () => {
      resolve();
      return beginning.promise;
    },
    count: (what: string, count = 1) => {
      own[what] = (own[what] ?? 0) + count;
    },
  };
  attackers[name]?.play(attack).catch(reject);
  return promise;
});

process.on('SIGUSR2', beginning.resolve);
process.on('SIGTERM', () => {
  say(counts);
  process.exit(0);
});
await Promise.all(prepared);
say('prepared');
