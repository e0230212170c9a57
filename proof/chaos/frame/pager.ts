import type { Client } from '../../../server/test/support/client.ts';
import { pause } from '../pause.ts';
import type { Calls } from './calls.ts';
import type { Paged } from './evidence.ts';

/** Between two pages of somebody who has come to the end. */
const idleMs = 100;

const limit = 50;

/** Somebody who reads a chat page by page from its first message on, and asks for what is new whenever there was nothing more. */
export class Pager {
  readonly #calls: Calls;
  readonly #user: Client;
  readonly #chatId: number;
  readonly #ids: number[] = [];

  constructor(calls: Calls, user: Client, chatId: number) {
    this.#calls = calls;
    this.#user = user;
    this.#chatId = chatId;
  }

  get paged(): Paged {
    return { chat_id: this.#chatId, ids: this.#ids };
  }

  /** Until the end. */
  async run(end: AbortSignal): Promise<void> {
    try {
      while (!end.aborted) if (!(await this.#turn(end))) await pause(idleMs, end);
    } catch (error) {
      if (!end.aborted) throw error;
    }
  }

  /** Up to the last message that there is. */
  async finish(end: AbortSignal): Promise<void> {
    while (await this.#turn(end));
  }

  /** One page; answers whether there are more. */
  async #turn(end: AbortSignal): Promise<boolean> {
    const input = { chat_id: this.#chatId, after_id: this.#ids.at(-1) ?? 0, limit };
    const page = await this.#calls.insist(this.#user, 'messages.get_messages', input, end);
    this.#ids.push(...(page?.messages ?? []).map(({ message_id }) => message_id));
    return page?.has_more ?? false;
  }
}
