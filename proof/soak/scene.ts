import type { LoggedEvent } from '@parley/contract';
import { addUser } from '../../server/auth/administer.ts';
import { goodPassword } from '../../server/test/support/browser-like.ts';
import type { Client } from '../../server/test/support/client.ts';
import { eventsAfter } from '../../server/test/support/people.ts';
import { attach } from '../../server/test/support/server.ts';
import { type Behaviour, behaviours } from '../harness/behaviours.ts';
import type { Environment } from '../harness/child.ts';
import type { Change, Message } from '../harness/evidence.ts';
import { between, pick, type Random, stream } from '../harness/random.ts';
import { Receiver } from '../harness/receiver.ts';
import { makePeople, makeStage, type Some, type Stage } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { isExpected, type Registration, registerWebhook } from '../harness/webhooks.ts';
import { Ledger } from './ledger.ts';
import type { Target } from './target.ts';

const writerCount = 4;
const groupCount = 21;
const channelCount = 10;

/** Everything that is stored for days is stored for one, and there is a rate limit. */
export const serverSettings = {
  PARLEY_EVENT_DAYS: '1',
  PARLEY_AUDIT_DAYS: '1',
  PARLEY_UPLOAD_HOURS: '24',
  // Far above the load: it is counted and never reached.
  PARLEY_RATE_LIMIT: '100000/100000',
  PARLEY_MESSAGES_PER_DAY: 'off',
  LOG_LEVEL: 'error',
};

/** A message that can still be changed. */
export interface Live {
  readonly message: Message;
  readonly author: Client;
}

export interface Reacted extends Live {
  readonly by: Client;
}

/** A user and a channel to join and leave. */
export interface Visit {
  readonly visitor: Client;
  readonly channel: number;
  isMember: boolean;
}

/** The people and chats of a soak, and what the server acknowledged. */
export class Scene {
  readonly random: Random;
  readonly stage: Stage;
  readonly groups: Some<number>;
  /** The group of the slow webhook. */
  readonly quiet: number;
  /** A user who can sign in. */
  readonly person: { readonly name: string; readonly password: string };
  readonly visits: Pool<Visit>;
  readonly messages = new Pool<Live>(2_000);
  readonly reacted = new Pool<Reacted>(500);
  /** The messages as the last response about each said. */
  readonly acknowledged = new Map<number, Message>();
  readonly changes: Change[] = [];
  #sent = 0;

  constructor(seed: number, stage: Stage, person: Scene['person']) {
    this.random = stream(seed, 'scene');
    this.stage = stage;
    this.quiet = stage.groups.at(-1) ?? stage.groups[0];
    this.groups = [stage.groups[0], ...stage.groups.slice(1, -1)];
    this.person = person;
    this.visits = new Pool(stage.channels.length * stage.visitors.length);
    for (const channel of stage.channels) {
      for (const visitor of stage.visitors) this.visits.put({ visitor, channel, isMember: false });
    }
  }

  anyone(): Client {
    return pick(this.random, this.stage.writers);
  }

  anyGroup(): number {
    return pick(this.random, this.groups);
  }

  /** Returns a number that no other message of the run has. */
  next(): number {
    return ++this.#sent;
  }

  acknowledge(message: Message): void {
    this.acknowledged.set(message.message_id, message);
  }
}

/** Things that are changed by one at a time. Beyond its size, the oldest are dropped. */
export class Pool<T> {
  readonly #all: T[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  put(one: T): void {
    this.#all.push(one);
    if (this.#all.length > this.#size) this.#all.shift();
  }

  take(random: Random): T | undefined {
    return this.#all.splice(Math.floor(random() * this.#all.length), 1)[0];
  }
}

/** The endpoints of a soak: one accepts, one is slow, and one fails now and then. */
export async function openReceivers(seed: number, ends: AsyncDisposableStack) {
  const open = async (name: string) => {
    const receiver = ends.use(new Receiver(0, stream(seed, `endpoint ${name}`)));
    await receiver.open();
    return receiver;
  };
  const receivers = { good: await open('good'), slow: await open('slow'), troubled: await open('troubled') };
  receivers.slow.behaviour = behaviours.slow;
  return receivers;
}

type Receivers = Awaited<ReturnType<typeof openReceivers>>;

const goodMs = [10_000, 30_000] as const;
const badMs = [300, 1_500] as const;

/** Lets an endpoint refuse or reset everything now and then. In the end it is well. */
export async function misbehaveNowAndThen(receiver: Receiver, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'trouble');
  while (!end.aborted) {
    receiver.behaviour = behaviours.accept;
    await pause(between(random, goodMs), end);
    receiver.behaviour = pick<Behaviour>(random, [behaviours.refuse, behaviours.reset]);
    await pause(between(random, badMs), end);
  }
  receiver.behaviour = behaviours.accept;
}

/** Makes people, chats and webhooks. A slow endpoint gets one quiet chat, the others get everything. */
export async function setScene(seed: number, target: Target, env: Environment, receivers: Receivers) {
  await using ends = new AsyncDisposableStack();
  const server = await attach(target.url, { ...env });
  ends.defer(() => server.stop());
  const people = await makePeople(server, writerCount);
  const person = { name: 'eve', password: goodPassword };
  await addUser(server.tools, { ...person, isAdmin: false });
  const ledgers: Ledger[] = [];
  const register = async (name: keyof Receivers, filter?: Registration['filter']) => {
    const registration = await registerWebhook(name, people.owner, receivers[name].url, filter);
    const isMine = (event: LoggedEvent) => isExpected(registration, event);
    ledgers.push(new Ledger(registration, receivers[name].arrivals, isMine));
  };
  await register('good');
  await register('troubled');
  const stage = await makeStage(people, { groups: groupCount, channels: channelCount });
  const scene = new Scene(seed, stage, person);
  await register('slow', { chat_id: scene.quiet });
  return { scene, ledgers };
}

const readLogEveryMs = 500;

export type LogReader = ReturnType<typeof makeLogReader>;

/** Reads the log as a user sees it, before the server drops it. */
export function makeLogReader(reader: Client, onEvents: (events: readonly LoggedEvent[]) => void) {
  const all: LoggedEvent[] = [];
  /** Reads up to the last event that there is. */
  const readOn = async (): Promise<void> => {
    const events = await eventsAfter(reader, all.at(-1)?.event_id ?? 0);
    for (const { data, ...event } of events) {
      const { chat_id, message_id, user_id } = data;
      all.push({ ...event, data: { chat_id, message_id, user_id } } as LoggedEvent);
    }
    onEvents(events);
  };
  const run = async (end: AbortSignal): Promise<void> => {
    for (; !end.aborted; await pause(readLogEveryMs, end)) await readOn();
  };
  /** `events` has everything so far, without the texts. */
  return { events: all, readOn, run };
}
