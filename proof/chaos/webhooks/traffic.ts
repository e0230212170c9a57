import type { Client } from '../../../server/test/support/client.ts';
import type { Change, Message } from '../evidence.ts';
import { insist } from '../insist.ts';
import { pause } from '../pause.ts';
import { pick, stream } from '../random.ts';
import { text } from '../words.ts';
import type { Tap } from './tap.ts';

export interface TrafficParts {
  readonly seed: number;
  readonly count: number;
  readonly authors: readonly [Client, ...Client[]];
  readonly chats: readonly [number, ...number[]];
  readonly tap: Tap;
}

/** Sends that are under way at once. */
const senders = 32;

/** One message in so many is edited once it is there, and another one gets a reaction. */
const changedOneIn = 20;

/** Many who send at once, and who repeat what was not answered with the same key until it is. */
export class Traffic {
  readonly acknowledged = new Map<number, Message>();
  readonly changes: Change[] = [];
  /** Answers that are neither success nor a plea to come again. */
  readonly unexpected: string[] = [];
  #repeated = 0;
  #taken = 0;
  #isOver = false;
  readonly #parts: TrafficParts;

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  /** Calls that had to be made again because no answer came. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Whether everything has been sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Answers when everything is acknowledged, or at the end. */
  async run(end: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: senders }, () => this.#sendInTurn(end)));
    this.#isOver = true;
  }

  async #sendInTurn(end: AbortSignal): Promise<void> {
    const { count, tap } = this.#parts;
    while (this.#taken < count && !end.aborted) {
      if (this.#taken >= tap.allowed) {
        await pause(5, end);
        continue;
      }
      const number = this.#taken++;
      await this.#send(number, end).catch((error: Error) => {
        if (!end.aborted) this.unexpected.push(`message ${number}: ${error.message}`);
      });
    }
  }

  async #send(number: number, end: AbortSignal): Promise<void> {
    const { seed, authors, chats } = this.#parts;
    const random = stream(seed, `message ${number}`);
    const [author, chat_id] = [pick(random, authors), pick(random, chats)];
    const content = `${number} ${text(random)}`;
    const headers = { 'idempotency-key': `chaos-${seed}-${number}` };
    const repeating = () => void this.#repeated++;
    const send = () => author.call('messages.send_message', { chat_id, content }, headers);
    const { message } = await insist(send, end, repeating);
    const { message_id } = message;
    this.acknowledged.set(message_id, { message_id, chat_id, content });
    if (number % changedOneIn === 0) {
      const edited = `${content}, edited`;
      await insist(() => author.call('messages.edit_message', { message_id, content: edited }), end, repeating);
      this.acknowledged.set(message_id, { message_id, chat_id, content: edited });
      this.changes.push({ event: 'message_edited', message_id });
    }
    if (number % changedOneIn === 1) {
      await insist(() => author.call('messages.add_reaction', { message_id, emoji: '🎉' }), end, repeating);
      this.changes.push({ event: 'reaction_added', message_id });
    }
  }
}
