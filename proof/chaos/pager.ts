import type { Client } from '../../server/test/support/client.ts';
import { pause } from '../harness/wait.ts';
import type { Calls } from './calls.ts';
import type { PageEvidence } from './evidence.ts';

/** The delay between two requests at the end of the chat. */
const idleMs = 100;

const limit = 50;

/** Somebody who reads a chat page by page from its first message, and keeps asking for new ones. */
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

  get evidence(): PageEvidence {
    return { chat_id: this.#chatId, ids: this.#ids };
  }

  async run(end: AbortSignal): Promise<void> {
    try {
      while (!end.aborted) if (!(await this.#readPage(end))) await pause(idleMs, end);
    } catch (error) {
      if (!end.aborted) throw error;
    }
  }

  /** Reads up to the last message that there is. */
  async finish(end: AbortSignal): Promise<void> {
    while (await this.#readPage(end));
  }

  /** Returns whether there are more pages. */
  async #readPage(end: AbortSignal): Promise<boolean> {
    const input = { chat_id: this.#chatId, after_id: this.#ids.at(-1) ?? 0, limit };
    const page = await this.#calls.insist(this.#user, 'messages.get_messages', input, end);
    this.#ids.push(...(page?.messages ?? []).map(({ message_id }) => message_id));
    return page?.has_more ?? false;
  }
}
