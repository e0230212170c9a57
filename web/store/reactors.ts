import { ApiError, type Client, type StreamedEvent } from '@parley-chat/sdk';

const pageSize = 200;

/** A chat with more reactions than fit into these pages shows the names of the first. */
const maxPages = 25;

/** The users by message and emoji, up to an event of the log. */
interface Known {
  after: number;
  readonly users: Map<string, Set<number>>;
}

/** Knows who reacted to messages. A message has only their number, so this reads the log of its chat. */
export class Reactors {
  readonly #client: Client;
  readonly #chats = new Map<number, Known>();
  /** One reading at a time: each begins where the one before it ended. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the users who reacted with an emoji, in their order. Those whose events are gone from the log are missing. */
  async of(chatId: number, messageId: number, emoji: string): Promise<readonly number[]> {
    const reading = this.#reading.then(() => this.#readOn(chatId));
    this.#reading = reading.catch(() => {});
    const known = await reading;
    return [...(known.users.get(`${messageId} ${emoji}`) ?? [])];
  }

  async #readOn(chatId: number): Promise<Known> {
    const known = this.#chats.get(chatId) ?? { after: 0, users: new Map() };
    this.#chats.set(chatId, known);
    try {
      for (let page = 0; page < maxPages; page++) {
        if (!(await this.#readPage(chatId, known))) break;
      }
    } catch (error) {
      // The log has lost what comes next. The next reading begins with what it still has.
      if (error instanceof ApiError && error.code === 'cursor_expired') this.#chats.delete(chatId);
      throw error;
    }
    return known;
  }

  /** Reads the next page. Returns whether there are more. */
  async #readPage(chat_id: number, known: Known): Promise<boolean> {
    const { events, next, has_more } = await this.#client.events.list({
      after: known.after,
      limit: pageSize,
      chat_id,
      events: ['reaction_added', 'reaction_removed'],
    });
    for (const item of events) {
      const { event, data } = item as StreamedEvent<'reaction_added' | 'reaction_removed'>;
      const key = `${data.message_id} ${data.emoji}`;
      const users = known.users.get(key) ?? new Set();
      known.users.set(key, users);
      if (event === 'reaction_added') users.add(data.user_id);
      else users.delete(data.user_id);
    }
    known.after = next;
    return has_more;
  }
}
