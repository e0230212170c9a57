import { Client } from '../../server/test/support/client.ts';
import { eventsAfter } from '../../server/test/support/people.ts';
import type { WebhookEvidence } from '../harness/evidence.ts';
import { readMessages } from '../harness/stage.ts';
import { pause, waitUntil } from '../harness/wait.ts';
import type { Registration } from '../harness/webhooks.ts';
import type { ListEvidence, Membership, RunEvidence, StreamEvidence } from './evidence.ts';
import type { Reader } from './reader.ts';
import { type Scene, webhookOwner } from './scenario.ts';

/** Events that must not arrive get this long to arrive nevertheless. */
const quietMs = 1_500;

const everyMs = 100;

/** An event that has not arrived after this time is lost. */
const dispatchMs = 20_000;

const at = ({ nodes }: Pick<Scene, 'nodes'>, { token, userId }: Client): Client =>
  new Client(nodes.first.url, token, userId);

/** Waits until no webhook has undelivered events. Returns what is left, as sentences. All endpoints are well by now. */
export async function settleWebhooks(
  scene: Scene,
  registrations: readonly Registration[],
  isHurried: boolean,
  end: AbortSignal,
): Promise<string[]> {
  const owners = [...new Map(registrations.map(({ owner }) => [owner.userId, webhookOwner(scene, owner)])).values()];
  const isSettled = async () => {
    if (isHurried) for (const owner of owners) await owner.hurryAll(end);
    const behind = await Promise.all(owners.map((owner) => owner.behind(end)));
    return behind.every((late) => late.length === 0);
  };
  await waitUntil(isSettled, { end, everyMs });
  // Events that no server has dispatched yet are not undelivered. After a fault that may take until the next sweep.
  await waitUntil(() => haveLastEvents(scene, registrations), { end, everyMs, ms: dispatchMs });
  const left: string[] = [];
  for (const { name, webhookId, owner } of registrations) {
    const lines = await webhookOwner(scene, owner).undelivered(webhookId, end);
    left.push(...lines.map((line) => `webhook ${name}: not settled, ${line}`));
  }
  return left;
}

/** Returns whether the newest event of each webhook has arrived. */
async function haveLastEvents(scene: Scene, registrations: readonly Registration[]): Promise<boolean> {
  for (const { name, owner, after, filter } of registrations) {
    const last = (await eventsAfter(at(scene, owner), after, filter)).at(-1);
    const arrivals = scene.endpoints.get(name)?.arrivals ?? [];
    if (last && !arrivals.some(({ header }) => header('x-webhook-id') === String(last.event_id))) return false;
  }
  return true;
}

/** Waits until every stream has come as far as it should, and a little longer. */
export async function settleStreams(
  scene: Scene,
  readers: readonly Reader[],
  end: AbortSignal,
): Promise<StreamEvidence[]> {
  const streams = await Promise.all(
    readers.map(async ({ name, user, first = 0, options, blocks }) => {
      return { name, blocks, expected: await eventsAfter(at(scene, user), first, options.filter) };
    }),
  );
  const isThere = (reader: Reader, i: number) => reader.cursor >= (streams[i]?.expected.at(-1)?.event_id ?? 0);
  await waitUntil(() => readers.every(isThere), { end, everyMs });
  await pause(quietMs, end);
  return streams;
}

/** Returns everything that the server can tell once all is settled. */
export async function readBack(
  scene: Scene,
  registrations: readonly Registration[],
): Promise<Omit<RunEvidence, 'streams' | 'answers' | 'pages'>> {
  const { stage, traffic, endpoints } = scene;
  const owner = at(scene, stage.owner);
  const roamers = [...stage.visitors, ...stage.guests];
  const lists: ListEvidence[] = [];
  for (const user of [...stage.writers, ...roamers]) {
    const { userId } = user;
    lists.push({ name: `user ${userId}`, userId, events: await eventsAfter(at(scene, user), 0) });
  }
  const webhooks: WebhookEvidence[] = [];
  for (const registration of registrations) {
    const log = await eventsAfter(at(scene, registration.owner), registration.after, registration.filter);
    webhooks.push({ ...registration, arrivals: endpoints.get(registration.name)?.arrivals ?? [], log });
  }
  return {
    acknowledged: [...traffic.acknowledged.values()],
    changes: traffic.changes,
    found: await readMessages(owner, stage.chats),
    log: await eventsAfter(owner, 0),
    webhooks,
    lists,
    memberships: traffic.memberships,
    foundMemberships: await readMemberships(owner, stage.chats, new Set(roamers.map(({ userId }) => userId))),
  };
}

async function readMemberships(
  reader: Client,
  chats: readonly number[],
  users: ReadonlySet<number>,
): Promise<Membership[]> {
  const found: Membership[] = [];
  for (const chat_id of chats) {
    const { participants } = await reader.ok('chats.participants', { chat_id, limit: 200 });
    found.push(...participants.map(({ user_id }) => ({ chat_id, user_id })));
  }
  return found.filter(({ user_id }) => users.has(user_id));
}
