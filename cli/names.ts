import { ApiError, type Client } from '@parley/sdk';

/** Looks up what people are called, each once. Who cannot be looked up is told by id: that is no reason to fail. */
export class Names {
  readonly #client: Client;
  readonly #known = new Map<number, Promise<string>>();

  constructor(client: Client) {
    this.#client = client;
  }

  of(userId: number): Promise<string> {
    const name = this.#known.get(userId) ?? this.#lookUp(userId);
    this.#known.set(userId, name);
    return name;
  }

  async #lookUp(userId: number): Promise<string> {
    try {
      return (await this.#client.users.get({ user_id: userId })).user.name;
    } catch (error) {
      if (error instanceof ApiError) return `user ${userId}`;
      throw error;
    }
  }
}
