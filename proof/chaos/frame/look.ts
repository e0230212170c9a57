import type { LoggedEvent } from '@parley/contract';
import { Client } from '../../../server/test/support/client.ts';
import type { Told } from '../evidence.ts';
import { Owner } from '../owner.ts';
import { readMessages } from '../stage.ts';
import type { Listed, Seat, TrialEvidence } from './evidence.ts';
import type { Hook } from './hooks.ts';
import type { Filter } from './reader.ts';
import type { Stage } from './stage.ts';
import type { Traffic } from './traffic.ts';
import type { Scene } from './trial.ts';

/** The means to look at what became of everything, through a node that is there. */

export const at = (url: string, { token, userId }: Client): Client => new Client(url, token, userId);

/** The one whose webhooks they are, at a server that stays where it is. */
export function ownerIn({ nodes, stage }: Pick<Scene, 'nodes' | 'stage'>): Owner {
  const [node] = nodes.up;
  if (!node) throw new Error('no server is up');
  return new Owner(at(node.url, stage.owner));
}

/** Everything that can be asked of the server once all is settled. */
export async function find(
  stage: Stage,
  traffic: Traffic,
  hooks: readonly Hook[],
  url: string,
): Promise<Omit<TrialEvidence, 'streams' | 'answers' | 'pages'>> {
  const owner = at(url, stage.owner);
  const roamers = [...stage.visitors, ...stage.guests];
  const lists: Listed[] = [];
  for (const user of [...stage.writers, ...roamers]) {
    lists.push({ name: `user ${user.userId}`, userId: user.userId, events: await listEvents(at(url, user), 0) });
  }
  const told: Told[] = [];
  for (const { owner: whose, after, filter, ...hook } of hooks) {
    told.push({ ...hook, log: await listEvents(at(url, whose), after, filter) });
  }
  return {
    acknowledged: [...traffic.acknowledged.values()],
    changes: traffic.changes,
    found: await readMessages(owner, stage.chats),
    log: await listEvents(owner, 0),
    told,
    lists,
    seats: traffic.seats,
    foundSeats: await readSeats(owner, stage.chats, new Set(roamers.map(({ userId }) => userId))),
  };
}

export async function listEvents(client: Client, from: number, filter: Filter = {}): Promise<LoggedEvent[]> {
  const listed: LoggedEvent[] = [];
  for (let after = from, more = true; more; ) {
    const { events, next, has_more } = await client.ok('events.list', { after, limit: 200, ...filterOf(filter) });
    listed.push(...events);
    after = next;
    more = has_more;
  }
  return listed;
}

const filterOf = ({ events, ...rest }: Filter) => ({ ...rest, ...(events && { events: [...events] }) });

/** Where these users are. */
async function readSeats(reader: Client, chats: readonly number[], users: ReadonlySet<number>): Promise<Seat[]> {
  const seats: Seat[] = [];
  for (const chat_id of chats) {
    const { participants } = await reader.ok('chats.participants', { chat_id, limit: 200 });
    seats.push(
      ...participants.filter(({ user_id }) => users.has(user_id)).map(({ user_id }) => ({ chat_id, user_id })),
    );
  }
  return seats;
}
