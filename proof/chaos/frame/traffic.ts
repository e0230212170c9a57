import type { Client } from '../../../server/test/support/client.ts';
import type { Change, Message } from '../evidence.ts';
import { pause } from '../pause.ts';
import { pick, type Random, stream } from '../random.ts';
import { text } from '../words.ts';
import type { Calls } from './calls.ts';
import type { Seat } from './evidence.ts';
import type { Stage } from './stage.ts';

export interface TrafficParts {
  readonly seed: number;
  readonly stage: Stage;
  readonly calls: Calls;
}

/** A message that only the one who sent it touches, so that no call meets a change that it does not know of. */
interface Own extends Message {
  readonly author: Client;
  isEdited: boolean;
  /** Who reacted, as long as it stands; false once it was taken back. */
  reactedBy: Client | false | undefined;
}

/** Each of those who write does so much at once. */
const handsEach = 3;

/** Between two calls of one hand at most. */
const idleMs = 60;

/** Own messages that a writer keeps in mind. */
const mostOwn = 50;

/** One message in so many is long, so that a slow reader falls behind. */
const longOneIn = 4;
const longBytes = 15_000;

const emoji = '🎉';

/** What a writer does next, by its share. */
const deeds = [
  'send',
  'send',
  'send',
  'send',
  'send',
  'send',
  'edit',
  'edit',
  'delete',
  'react',
  'react',
  'read',
] as const;

/** People who write, change, react, come and go, until they are told to end. Whatever they began they see through. */
export class Traffic {
  readonly acknowledged = new Map<number, Message>();
  readonly changes: Change[] = [];
  /** When a message was acknowledged. */
  readonly times = new Map<number, number>();
  readonly unexpected: string[] = [];
  /** Which message came of which `Idempotency-Key`. */
  readonly keys = new Map<string, number>();
  readonly #seats = new Map<string, Seat>();
  readonly #parts: TrafficParts;
  #isEnding = false;
  readonly #over = Promise.withResolvers<void>();

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  /** Who is where by the last answers, of those who come and go. */
  get seats(): Seat[] {
    return [...this.#seats.values()];
  }

  /** Begins nothing new from now on, and answers once everything that was begun is answered for. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    await this.#over.promise;
  }

  /** So many messages at once, beside everything else. Answers once all of them are acknowledged. */
  async burst(name: string, count: number, end: AbortSignal): Promise<void> {
    const { seed, stage } = this.#parts;
    const random = stream(seed, name);
    const sends = Array.from({ length: count }, (_, i) =>
      this.#send(pick(random, stage.writers), pick(random, stage.chats), `${name} ${i}`, random, end),
    );
    await Promise.all(sends);
  }

  async run(end: AbortSignal): Promise<void> {
    const { writers, visitors, guests } = this.#parts.stage;
    const hands = Array.from({ length: handsEach }, () => writers).flat();
    await Promise.all([
      ...hands.map((writer, i) => this.#going(`writer ${i}`, end, () => this.#write(writer, `writer ${i}`, end))),
      ...visitors.map((who, i) => this.#going(`visitor ${i}`, end, () => this.#visit(who, `visitor ${i}`, end))),
      this.#going('stranger', end, () => this.#intrude(end)),
      ...guests.map((who, i) => this.#going(`guest ${i}`, end, () => this.#host(who, `guest ${i}`, end))),
    ]);
    this.#over.resolve();
  }

  /** Has somebody act again and again; an answer that nobody expects is noted, and ends it. */
  async #going(name: string, end: AbortSignal, begin: () => AsyncGenerator<void>): Promise<void> {
    const random = stream(this.#parts.seed, `pauses of ${name}`);
    try {
      for await (const _ of begin()) {
        if (this.#isEnding || end.aborted) return;
        await pause(idleMs * random(), end);
      }
    } catch (error) {
      if (!end.aborted) this.unexpected.push(`${name}: ${(error as Error).message}`);
    }
  }

  async *#write(author: Client, name: string, end: AbortSignal): AsyncGenerator<void> {
    const random = stream(this.#parts.seed, name);
    const own: Own[] = [];
    for (let number = 0; ; number++) {
      const deed = pick(random, deeds);
      const chat_id = pick(random, this.#parts.stage.chats);
      const index = Math.floor(random() * own.length);
      const message = own[index];
      if (deed === 'send' || !message) {
        own.push(await this.#send(author, chat_id, `${name} ${number}`, random, end));
        if (own.length > mostOwn) own.shift();
      } else if (deed === 'edit' && !message.isEdited) {
        await this.#edit(message, end);
      } else if (deed === 'delete') {
        await this.#delete(message, end);
        own.splice(index, 1);
      } else if (deed === 'react') {
        await this.#react(message, random, end);
      } else {
        await this.#parts.calls.insist(author, 'messages.mark_read', { chat_id }, end);
      }
      yield;
    }
  }

  async #send(author: Client, chat_id: number, name: string, random: Random, end: AbortSignal): Promise<Own> {
    const { seed, calls } = this.#parts;
    const padding = random() < 1 / longOneIn ? 'long '.repeat(longBytes / 5) : '';
    const content = `${name} ${text(random)} ${padding}`.trim();
    const key = `chaos-${seed}-${name}`.replaceAll(' ', '-');
    const input = { chat_id, content };
    const answer = await calls.insist(author, 'messages.send_message', input, end, { 'idempotency-key': key });
    const message_id = answer?.message.message_id ?? 0;
    this.keys.set(key, message_id);
    this.#acknowledge({ message_id, chat_id, content });
    this.times.set(message_id, performance.now());
    return { message_id, chat_id, content, author, isEdited: false, reactedBy: undefined };
  }

  async #edit(message: Own, end: AbortSignal): Promise<void> {
    const { author, message_id, chat_id } = message;
    const content = `${message.content.slice(0, 200)}, edited`;
    await this.#parts.calls.insist(author, 'messages.edit_message', { message_id, content }, end);
    message.isEdited = true;
    this.#acknowledge({ message_id, chat_id, content });
    this.changes.push({ event: 'message_edited', message_id });
  }

  async #delete({ author, message_id, chat_id }: Own, end: AbortSignal): Promise<void> {
    await this.#parts.calls.insist(author, 'messages.delete_message', { message_id }, end);
    this.#acknowledge({ message_id, chat_id, content: '' });
    this.changes.push({ event: 'message_deleted', message_id });
  }

  async #react(message: Own, random: Random, end: AbortSignal): Promise<void> {
    const { calls, stage } = this.#parts;
    const { message_id, reactedBy } = message;
    if (reactedBy === false) return;
    const who = reactedBy ?? pick(random, stage.writers);
    const name = reactedBy ? 'messages.remove_reaction' : 'messages.add_reaction';
    await calls.insist(who, name, { message_id, emoji }, end);
    message.reactedBy = reactedBy ? false : who;
    this.changes.push({ event: reactedBy ? 'reaction_removed' : 'reaction_added', message_id });
  }

  /** Joins channels and leaves them again. */
  async *#visit(visitor: Client, name: string, end: AbortSignal): AsyncGenerator<void> {
    const { seed, calls, stage } = this.#parts;
    const random = stream(seed, name);
    for (;;) {
      const chat_id = pick(random, stage.channels);
      const isThere = this.#isSeated(visitor, chat_id);
      await calls.insist(visitor, isThere ? 'chats.leave' : 'chats.join', { chat_id }, end);
      this.#seat(visitor, chat_id, !isThere);
      await pause(600 * random(), end);
      yield;
    }
  }

  /** The owner brings a guest into groups and sends the guest away again; in between the guest writes. */
  async *#host(guest: Client, name: string, end: AbortSignal): AsyncGenerator<void> {
    const { seed, calls, stage } = this.#parts;
    const random = stream(seed, name);
    for (let number = 0; ; number++) {
      const chat_id = pick(random, stage.groups);
      const user_id = guest.userId;
      if (!this.#isSeated(guest, chat_id)) {
        await calls.insist(stage.owner, 'chats.add_participants', { chat_id, participants: [user_id] }, end);
        this.#seat(guest, chat_id, true);
      } else if (random() < 0.6) {
        await this.#send(guest, chat_id, `${name} ${number}`, random, end);
      } else {
        await calls.insist(stage.owner, 'chats.remove_participant', { chat_id, user_id }, end);
        this.#seat(guest, chat_id, false);
      }
      await pause(300 * random(), end);
      yield;
    }
  }

  /** Tries to write where one may not: the log is to pass over what comes of that. */
  async *#intrude(end: AbortSignal): AsyncGenerator<void> {
    const { seed, calls, stage } = this.#parts;
    const random = stream(seed, 'stranger');
    for (;;) {
      const input = { chat_id: pick(random, stage.groups), content: 'let me in' };
      await calls.refused(stage.stranger, 'messages.send_message', input, 'not_found', end);
      await pause(500 * random(), end);
      yield;
    }
  }

  #acknowledge(message: Message): void {
    this.acknowledged.set(message.message_id, message);
  }

  #isSeated({ userId }: Client, chatId: number): boolean {
    return this.#seats.has(`${chatId} ${userId}`);
  }

  #seat({ userId: user_id }: Client, chat_id: number, isThere: boolean): void {
    const key = `${chat_id} ${user_id}`;
    if (isThere) this.#seats.set(key, { chat_id, user_id });
    else this.#seats.delete(key);
    this.changes.push({ event: isThere ? 'user_joined' : 'user_left', chat_id, user_id });
  }
}
