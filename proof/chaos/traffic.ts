import type { Client } from '../../server/test/support/client.ts';
import type { Change, Message } from '../harness/evidence.ts';
import { pick, type Random, stream, text } from '../harness/random.ts';
import type { Stage } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import type { Calls } from './calls.ts';
import type { Membership } from './evidence.ts';

/** A message that only its sender touches, so that no call meets a change that it does not know of. */
interface Own extends Message {
  readonly author: Client;
  isEdited: boolean;
  /** The user whose reaction it has; false once the reaction was removed. */
  reactedBy: Client | false | undefined;
}

/** The concurrent calls of each writer. */
const callsPerWriter = 3;

/** The longest pause between two calls. */
const idleMs = 60;

/** Own messages that a writer remembers. */
const maxOwn = 50;

/** One message in so many is long, so that a slow reader falls behind. */
const longOneIn = 4;
const longBytes = 15_000;

const emoji = '🎉';

/** The actions of writers. Each is as likely as it is listed often. */
const actions = [
  ...(['send', 'send', 'send', 'send', 'send', 'send'] as const),
  ...(['edit', 'edit', 'delete', 'react', 'react', 'read'] as const),
] as const;

/** One step of somebody; `name` is unique in the run. */
type Action = (random: Random, name: string) => Promise<void>;

/** People who write, edit, react, join and leave until `finish`. They complete what they began. */
export class Traffic {
  readonly acknowledged = new Map<number, Message>();
  readonly changes: Change[] = [];
  /** When each message was acknowledged. */
  readonly times = new Map<number, number>();
  readonly unexpected: string[] = [];
  /** The message of each `Idempotency-Key`. */
  readonly keys = new Map<string, number>();
  readonly #memberships = new Map<string, Membership>();
  readonly #seed: number;
  readonly #stage: Stage;
  readonly #calls: Calls;
  #isEnding = false;
  readonly #over = Promise.withResolvers<void>();

  constructor(seed: number, stage: Stage, calls: Calls) {
    this.#seed = seed;
    this.#stage = stage;
    this.#calls = calls;
  }

  /** The memberships of visitors and guests by the last responses. */
  get memberships(): Membership[] {
    return [...this.#memberships.values()];
  }

  /** Begins nothing new from now on. Returns once everything that was begun is acknowledged. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    await this.#over.promise;
  }

  /** Sends a short message by some writer to some chat, beside everything else. */
  async sendExtra(name: string, end: AbortSignal): Promise<void> {
    const random = stream(this.#seed, name);
    const { writers, chats } = this.#stage;
    await this.#send(pick(random, writers), pick(random, chats), name, random, end, false);
  }

  async run(end: AbortSignal): Promise<void> {
    const { writers, visitors, guests } = this.#stage;
    const repeated = Array.from({ length: callsPerWriter }, () => writers).flat();
    await Promise.all([
      ...repeated.map((one, i) => this.#repeat(`writer ${i}`, this.#writing(one, end), end)),
      ...visitors.map((one, i) => this.#repeat(`visitor ${i}`, this.#visiting(one, end), end)),
      ...guests.map((one, i) => this.#repeat(`guest ${i}`, this.#hosting(one, end), end)),
      this.#repeat('stranger', this.#intruding(end), end),
    ]);
    this.#over.resolve();
  }

  /** Repeats an action until the end. An unexpected response is recorded, and ends it. */
  async #repeat(name: string, act: Action, end: AbortSignal): Promise<void> {
    const [random, pauses] = [stream(this.#seed, name), stream(this.#seed, `pauses of ${name}`)];
    try {
      for (let number = 0; !this.#isEnding && !end.aborted; number++) {
        await act(random, `${name} ${number}`);
        await pause(idleMs * pauses(), end);
      }
    } catch (error) {
      if (!end.aborted) this.unexpected.push(`${name}: ${(error as Error).message}`);
    }
  }

  #writing(author: Client, end: AbortSignal): Action {
    const own: Own[] = [];
    return async (random, name) => {
      const action = pick(random, actions);
      const chat_id = pick(random, this.#stage.chats);
      const index = Math.floor(random() * own.length);
      const message = own[index];
      if (action === 'send' || !message) {
        own.push(await this.#send(author, chat_id, name, random, end));
        if (own.length > maxOwn) own.shift();
      } else if (action === 'edit' && !message.isEdited) {
        await this.#edit(message, end);
      } else if (action === 'delete') {
        await this.#delete(message, end);
        own.splice(index, 1);
      } else if (action === 'react') {
        await this.#react(message, random, end);
      } else {
        await this.#calls.insist(author, 'messages.mark_read', { chat_id }, end);
      }
    };
  }

  async #send(
    author: Client,
    chat_id: number,
    name: string,
    random: Random,
    end: AbortSignal,
    isLong = random() < 1 / longOneIn,
  ): Promise<Own> {
    const content = `${name} ${text(random)} ${isLong ? 'long '.repeat(longBytes / 5) : ''}`.trim();
    const key = `chaos-${this.#seed}-${name}`.replaceAll(' ', '-');
    const input = { chat_id, content };
    const answer = await this.#calls.insist(author, 'messages.send_message', input, end, { key });
    const message_id = answer?.message.message_id ?? 0;
    this.keys.set(key, message_id);
    this.acknowledged.set(message_id, { message_id, chat_id, content });
    this.times.set(message_id, performance.now());
    return { message_id, chat_id, content, author, isEdited: false, reactedBy: undefined };
  }

  async #edit(message: Own, end: AbortSignal): Promise<void> {
    const { author, message_id, chat_id } = message;
    const content = `${message.content.slice(0, 200)}, edited`;
    await this.#calls.insist(author, 'messages.edit_message', { message_id, content }, end);
    message.isEdited = true;
    this.acknowledged.set(message_id, { message_id, chat_id, content });
    this.changes.push({ event: 'message_edited', message_id });
  }

  async #delete({ author, message_id, chat_id }: Own, end: AbortSignal): Promise<void> {
    await this.#calls.insist(author, 'messages.delete_message', { message_id }, end);
    this.acknowledged.set(message_id, { message_id, chat_id, content: '' });
    this.changes.push({ event: 'message_deleted', message_id });
  }

  async #react(message: Own, random: Random, end: AbortSignal): Promise<void> {
    const { message_id, reactedBy } = message;
    if (reactedBy === false) return;
    const user = reactedBy ?? pick(random, this.#stage.writers);
    const name = reactedBy ? 'messages.remove_reaction' : 'messages.add_reaction';
    await this.#calls.insist(user, name, { message_id, emoji }, end);
    message.reactedBy = reactedBy ? false : user;
    this.changes.push({ event: reactedBy ? 'reaction_removed' : 'reaction_added', message_id });
  }

  /** A visitor joins channels and leaves them. */
  #visiting(visitor: Client, end: AbortSignal): Action {
    return async (random) => {
      const chat_id = pick(random, this.#stage.channels);
      const isMember = this.#isMember(visitor, chat_id);
      await this.#calls.insist(visitor, isMember ? 'chats.leave' : 'chats.join', { chat_id }, end);
      this.#setMember(visitor, chat_id, !isMember);
      await pause(600 * random(), end);
    };
  }

  /** The owner adds a guest to groups and removes the guest again; in between the guest writes. */
  #hosting(guest: Client, end: AbortSignal): Action {
    return async (random, name) => {
      const chat_id = pick(random, this.#stage.groups);
      const user_id = guest.userId;
      const { owner } = this.#stage;
      if (!this.#isMember(guest, chat_id)) {
        await this.#calls.insist(owner, 'chats.add_participants', { chat_id, participants: [user_id] }, end);
        this.#setMember(guest, chat_id, true);
      } else if (random() < 0.6) {
        await this.#send(guest, chat_id, name, random, end);
      } else {
        await this.#calls.insist(owner, 'chats.remove_participant', { chat_id, user_id }, end);
        this.#setMember(guest, chat_id, false);
      }
      await pause(300 * random(), end);
    };
  }

  /** A stranger is refused. The rolled back send must leave no trace in the log. */
  #intruding(end: AbortSignal): Action {
    return async (random) => {
      const { stranger, groups } = this.#stage;
      const input = { chat_id: pick(random, groups), content: 'let me in' };
      await this.#calls.insist(stranger, 'messages.send_message', input, end, { refusal: 'not_found' });
      await pause(500 * random(), end);
    };
  }

  #isMember({ userId }: Client, chatId: number): boolean {
    return this.#memberships.has(`${chatId} ${userId}`);
  }

  #setMember({ userId: user_id }: Client, chat_id: number, isMember: boolean): void {
    const key = `${chat_id} ${user_id}`;
    if (isMember) this.#memberships.set(key, { chat_id, user_id });
    else this.#memberships.delete(key);
    this.changes.push({ event: isMember ? 'user_joined' : 'user_left', chat_id, user_id });
  }
}
