import type { ChatId, EventData, EventName, UserId } from '@parley/contract';
import type { LogEntry } from '../store/engine.ts';
import { type Stay, sees } from '../store/visibility.ts';
import type { Stream } from './stream.ts';

/** A user's stay in a chat. */
interface ChatStay extends Stay {
  readonly chat_id: ChatId;
}

interface ReadersParts {
  /** Where a user is, or was after one event. */
  readonly stays: (userId: UserId, since: number) => Promise<readonly ChatStay[]>;
  /** Has events told from now on. */
  readonly begin: () => Promise<void>;
  readonly position: () => number;
  /** Nobody is left, nor on their way. */
  readonly emptied: () => void;
}

type Change = readonly [move: 'joins' | 'leaves', chatId: ChatId];

/** A user with streams, and the chats that the user is in. */
class Reader {
  readonly userId: UserId;
  streams: Stream[] = [];
  chats: ChatId[] = [];
  /** What happens while it is not yet known where the user is. */
  changes: Change[] | undefined = [];
  /** Streams that are there or on their way. */
  awaited = 0;
  ready: Promise<void> = Promise.resolve();

  constructor(userId: UserId) {
    this.userId = userId;
  }
}

/**
 * Who is listening, and in which chats they are as of the event that is told. Where a user is, is read once when the first
 * stream comes; from then on the log itself tells of every change. So telling an event reads nothing.
 */
export class Readers {
  readonly #parts: ReadersParts;
  readonly #users = new Map<UserId, Reader>();
  readonly #chats = new Map<ChatId, Set<Reader>>();
  #count = 0;

  constructor(parts: ReadersParts) {
    this.#parts = parts;
  }

  /** Streams of all users, those on their way included. */
  get count(): number {
    return this.#count;
  }

  streamsOf(userId: UserId): Iterable<Stream> {
    return this.#users.get(userId)?.streams ?? [];
  }

  /** Streams of a user, those on their way included. */
  countOf(userId: UserId): number {
    return this.#users.get(userId)?.awaited ?? 0;
  }

  /**
   * Makes the user known, who counts from then on; answers once it is known where the user is. To be paired with `release`,
   * unless it fails.
   */
  async expect(userId: UserId): Promise<void> {
    let reader = this.#users.get(userId);
    if (!reader) {
      reader = new Reader(userId);
      this.#users.set(userId, reader);
      reader.ready = this.#settle(reader);
    }
    reader.awaited++;
    this.#count++;
    try {
      await reader.ready;
    } catch (error) {
      this.release(userId);
      throw error;
    }
  }

  release(userId: UserId): void {
    const reader = this.#users.get(userId);
    if (!reader) return;
    this.#count--;
    if (--reader.awaited > 0) return;
    this.#users.delete(userId);
    for (const chatId of reader.chats) this.#leave(reader, chatId);
    if (this.#count === 0) this.#parts.emptied();
  }

  add(stream: Stream): void {
    const reader = this.#users.get(stream.query.userId);
    if (reader) reader.streams = [...reader.streams, stream];
  }

  remove(stream: Stream): void {
    const reader = this.#users.get(stream.query.userId);
    if (reader) reader.streams = reader.streams.filter((other) => other !== stream);
  }

  /** The readers of what happens in a chat; of one that is a user's negative id, that user. */
  *streamsIn(chatId: ChatId): Iterable<Stream> {
    if (chatId < 0) yield* this.streamsOf(-chatId as UserId);
    else for (const reader of this.#chats.get(chatId) ?? []) yield* reader.streams;
  }

  /** To be called before an event is told: whoever joins sees that. */
  before(event: LogEntry): void {
    for (const userId of joining[event.event]?.(event.body) ?? []) this.#change(userId, 'joins', event.chat_id);
  }

  /** To be called after it was told: whoever leaves has seen that. */
  after(event: LogEntry): void {
    if (event.event === 'user_left') this.#change(dataOf<'user_left'>(event.body).user_id, 'leaves', event.chat_id);
  }

  #change(userId: UserId, ...change: Change): void {
    const reader = this.#users.get(userId);
    if (!reader) return;
    if (reader.changes) reader.changes.push(change);
    else this.#apply(reader, change);
  }

  #apply(reader: Reader, [move, chatId]: Change): void {
    if (move === 'leaves') {
      reader.chats = reader.chats.filter((other) => other !== chatId);
      this.#leave(reader, chatId);
      return;
    }
    const readers = this.#chats.get(chatId);
    if (readers?.has(reader)) return;
    reader.chats.push(chatId);
    if (readers) readers.add(reader);
    else this.#chats.set(chatId, new Set([reader]));
  }

  #leave(reader: Reader, chatId: ChatId): void {
    const readers = this.#chats.get(chatId);
    readers?.delete(reader);
    if (readers?.size === 0) this.#chats.delete(chatId);
  }

  /** Where the user was at an event, and what the log has told since. */
  async #settle(reader: Reader): Promise<void> {
    await this.#parts.begin();
    const since = this.#parts.position();
    reader.changes = [];
    const stays = await this.#parts.stays(reader.userId, since);
    const changes = reader.changes ?? [];
    reader.changes = undefined;
    // Nobody waits for it any more.
    if (this.#users.get(reader.userId) !== reader) return;
    for (const stay of stays) {
      if (sees(stay, since) && stay.left_event !== since) this.#apply(reader, ['joins', stay.chat_id]);
    }
    for (const change of changes) this.#apply(reader, change);
  }
}

const dataOf = <E extends EventName>(body: string) => (JSON.parse(body) as { data: EventData<E> }).data;

const all = (body: string): readonly UserId[] => {
  const { user_id, participants } = dataOf<'group_created' | 'direct_created'>(body);
  return [user_id, ...participants];
};

/** Who begins a stay with an event. */
const joining: { readonly [E in EventName]?: (body: string) => readonly UserId[] } = {
  user_joined: (body) => [dataOf<'user_joined'>(body).user_id],
  group_created: all,
  channel_created: all,
  direct_created: all,
};
