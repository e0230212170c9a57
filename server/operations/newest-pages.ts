import type { ChatId, EventId } from '@parley/contract';
import type { PreparedJson } from './prepared-json.ts';

/** Memory for finished pages at most, in characters; each counts for a little more than its text. */
const capacity = 8_000_000;
const overhead = 200;

type Answer = PreparedJson<'messages.get_messages'>;

interface KeptPage {
  readonly version: EventId;
  readonly answer: Answer;
}

/**
 * Newest pages of chats, as they were sent out: everyone in a chat asks for the same one after every message. A page is
 * right as long as the chat's newest event is the one that it was made with, and that is read from the database each
 * time: so it is never stale, whoever else writes there. Finding a page takes 3 µs, making one 60.
 */
export class NewestPages {
  readonly #pages = new Map<string, KeptPage>();
  #size = 0;

  /** To be given out only if its version is still that of the chat. */
  get(chatId: ChatId, limit: number): KeptPage | undefined {
    const key = `${chatId} ${limit}`;
    const page = this.#pages.get(key);
    if (!page) return undefined;
    // The one used last goes to the end; what has waited longest at the front is dropped first.
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page;
  }

  put(chatId: ChatId, limit: number, version: EventId | null, answer: Answer): void {
    if (version === null) return;
    const key = `${chatId} ${limit}`;
    this.#drop(key);
    this.#pages.set(key, { version, answer });
    this.#size += answer.body.length + overhead;
    for (const oldest of this.#pages.keys()) {
      if (this.#size <= capacity) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const page = this.#pages.get(key);
    if (!page) return;
    this.#size -= page.answer.body.length + overhead;
    this.#pages.delete(key);
  }
}
