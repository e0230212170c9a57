import { ApiError, type Client } from '@parley/sdk';

/** Looks up what chats are called, each once: by their name, and direct ones by who else is in them. */
export class ChatTitles {
  readonly #client: Client;
  readonly #me: number;
  readonly #known = new Map<number, Promise<string>>();

  constructor(client: Client, me: number) {
    this.#client = client;
    this.#me = me;
  }

  of(chatId: number): Promise<string> {
    const title = this.#known.get(chatId) ?? this.#lookUp(chatId);
    this.#known.set(chatId, title);
    return title;
  }

  /** For when a chat was given another name. */
  forget(chatId: number): void {
    this.#known.delete(chatId);
  }

  async #lookUp(chatId: number): Promise<string> {
    try {
      const { chat } = await this.#client.chats.get({ chat_id: chatId });
      const name = chat.name ?? (await this.#others(chatId));
      return name === '' ? `chat ${chatId}` : `${name} (${chatId})`;
    } catch (error) {
      // One that was left since, or a token that may see messages and no chats.
      if (error instanceof ApiError) return `chat ${chatId}`;
      throw error;
    }
  }

  async #others(chatId: number): Promise<string> {
    const { participants } = await this.#client.chats.participants({ chat_id: chatId });
    const others = participants.filter(({ user_id }) => user_id !== this.#me);
    return others.map(({ name }) => name).join(', ');
  }
}
