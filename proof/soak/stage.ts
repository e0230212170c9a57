import type { LoggedEvent } from '@parley/contract';
import { addUser } from '../../server/auth/administer.ts';
import { openTools } from '../../server/compose/tools.ts';
import { readSettings } from '../../server/config.ts';
import { goodPassword } from '../../server/test/support/browser-like.ts';
import { quietPort } from '../../server/test/support/quiet-port.ts';
import { eventTip } from '../../server/test/support/world.ts';
import { stream } from '../chaos/random.ts';
import { Receiver } from '../chaos/receiver.ts';
import { makeChats, type People } from '../chaos/stage.ts';
import type { Entry } from './ledger.ts';
import { Scene } from './scene.ts';

const groupCount = 20;
const channelCount = 10;

/** What the server is to have beside its own: everything that is kept for days is kept for one, and there is a rate limit. */
export const settings = {
  PARLEY_EVENT_DAYS: '1',
  PARLEY_AUDIT_DAYS: '1',
  PARLEY_UPLOAD_HOURS: '24',
  // Far above the load, so that it is counted and never reached.
  PARLEY_RATE_LIMIT: '100000/100000',
  LOG_LEVEL: 'error',
};

/** Somebody with a password, made beside a server. */
export async function makePerson(env: Record<string, string>): Promise<{ name: string; password: string }> {
  const tools = await openTools(readSettings(env));
  try {
    const person = { name: 'eve', password: goodPassword };
    await addUser(tools, { ...person, isAdmin: false });
    return person;
  } finally {
    await tools.engine.close();
  }
}

/** The endpoints, open and in a good mood. */
export class Endpoints implements AsyncDisposable {
  readonly good: Receiver;
  /** Takes its time. */
  readonly slow: Receiver;
  /** Fails now and then. */
  readonly troubled: Receiver;

  constructor(good: Receiver, slow: Receiver, troubled: Receiver) {
    this.good = good;
    this.slow = slow;
    this.troubled = troubled;
  }

  static async open(seed: number): Promise<Endpoints> {
    const make = async (name: string) => new Receiver(await quietPort(), stream(seed, `endpoint ${name}`));
    const all = new Endpoints(await make('good'), await make('slow'), await make('troubled'));
    for (const one of [all.good, all.slow, all.troubled]) await one.open();
    all.slow.mood = 'slow';
    return all;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [this.good, this.slow, this.troubled]) await one.close();
  }
}

/** Makes the chats, and registers the webhooks: a slow endpoint is told of one quiet chat, the others of everything. */
export async function setScene(
  seed: number,
  people: People,
  person: { name: string; password: string },
  endpoints: Endpoints,
): Promise<{ scene: Scene; entries: Entry[] }> {
  const { owner, authors } = people;
  const register = async (name: keyof typeof endpoints & string, chat_id?: number) => {
    const [receiver, secret] = [endpoints[name], `the secret of ${name}`];
    const from = await eventTip(owner);
    const input = { url: receiver.url, events: ['*'], secret, ...(chat_id !== undefined && { chat_id }) };
    const { webhook } = await owner.ok('webhooks.register', input);
    const isToldOf = ({ event_id, data }: LoggedEvent) =>
      event_id > from && (chat_id === undefined || data.chat_id === chat_id);
    return { name, webhookId: webhook.webhook_id, secret, receiver, isToldOf };
  };
  const entries: Entry[] = [await register('good'), await register('troubled')];
  const groups = await makeChats(people, groupCount);
  const participants = authors.map(({ userId }) => userId);
  const { group } = await owner.ok('messages.create_group', { name: 'Quiet', participants });
  entries.push(await register('slow', group.chat_id));
  const channels: number[] = [];
  for (let i = 1; i <= channelCount; i++) {
    const { channel } = await owner.ok('messages.create_channel', { name: `Channel ${i}` });
    channels.push(channel.chat_id);
  }
  return { scene: new Scene({ seed, people, person, groups, channels, quiet: group.chat_id }), entries };
}
