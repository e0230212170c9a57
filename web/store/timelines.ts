import type { Client } from '@parley-chat/sdk';
import type { Store } from './store.ts';
import { append, lastId, newestPage, type Page, pageSize, prepend, refresh, type Timeline, trim } from './timeline.ts';

/** A scroll through a long chat takes larger steps. */
const scrollPageSize = 150;

/** Loads messages into the timelines. Each end of a timeline has at most one request at a time. */
export class Timelines {
  readonly #store: Store;
  readonly #client: Client;
  readonly #loading = new Map<string, Promise<void>>();

  constructor(store: Store, client: Client) {
    this.#store = store;
    this.#client = client;
  }

  /** Loads the newest messages, or brings a timeline that has them up to date. */
  open(chatId: number): Promise<void> {
    return this.#once(`${chatId} newest`, () =>
      this.#store.load(
        () => this.#client.messages.list({ chat_id: chatId, limit: pageSize }),
        (page) => {
          const known = this.#store.timeline(chatId).value;
          this.#store.setTimeline(chatId, known ? refresh(known, page) : newestPage(page));
          this.#store.previewFromTimeline(chatId);
        },
      ),
    );
  }

  /** Shows the newest messages instead of older ones. */
  newest(chatId: number): Promise<void> {
    return this.#once(`${chatId} newest`, () =>
      this.#store.load(
        () => this.#client.messages.list({ chat_id: chatId, limit: pageSize }),
        (page) => this.#store.setTimeline(chatId, newestPage(page)),
      ),
    );
  }

  older(chatId: number): Promise<void> {
    return this.#extend(chatId, 'hasOlder', ({ messages }) => ({ before_id: messages[0]?.message_id }), prepend);
  }

  newer(chatId: number): Promise<void> {
    return this.#extend(chatId, 'hasNewer', (timeline) => ({ after_id: lastId(timeline) }), append);
  }

  /** Shows the messages around one, unless it is shown already. */
  around(chatId: number, messageId: number): Promise<void> {
    return this.#once(`${chatId} around ${messageId}`, async () => {
      const isShown = this.#store.timeline(chatId).value?.messages.some(({ message_id }) => message_id === messageId);
      if (isShown) return;
      await this.#store.load(
        () => this.#client.messages.list({ chat_id: chatId, around_id: messageId, limit: pageSize }),
        // There is more on one side at least. The list finds out which, when the reader comes near it.
        ({ messages, has_more }) =>
          this.#store.setTimeline(chatId, { messages, hasOlder: has_more, hasNewer: has_more }),
      );
    });
  }

  /** Loads the newest replies in a thread, or brings them up to date. */
  openThread(chatId: number, rootId: number): Promise<void> {
    return this.#once(`thread ${rootId}`, () =>
      this.#store.load(
        () =>
          Promise.all([
            this.#client.messages.get({ message_id: rootId }),
            this.#client.messages.list({ chat_id: chatId, thread_id: rootId, limit: pageSize }),
          ]),
        ([{ message: root }, page]) => {
          const known = this.#store.threads.value.get(rootId)?.replies;
          this.#store.setThread({ root, replies: known ? refresh(known, page) : newestPage(page) });
        },
      ),
    );
  }

  olderReplies(chatId: number, rootId: number): Promise<void> {
    return this.#once(`thread ${rootId} older`, async () => {
      const first = this.#store.threads.value.get(rootId)?.replies.messages[0]?.message_id;
      const input = { chat_id: chatId, thread_id: rootId, limit: pageSize, ...(first && { before_id: first }) };
      await this.#store.load(
        () => this.#client.messages.list(input),
        (page) => this.#store.changeThread(rootId, (thread) => ({ ...thread, replies: prepend(thread.replies, page) })),
      );
    });
  }

  /** Drops messages far from the view. It is a step of its own: a list that grows and shrinks at once cannot keep its place. */
  trim(chatId: number, end: 'oldest' | 'newest'): void {
    this.#store.changeTimeline(chatId, (timeline) => trim(timeline, end));
  }

  #extend(
    chatId: number,
    end: 'hasOlder' | 'hasNewer',
    bound: (timeline: Timeline) => { before_id?: number | undefined; after_id?: number },
    join: (timeline: Timeline, page: Page) => Timeline,
  ): Promise<void> {
    return this.#once(`${chatId} ${end}`, async () => {
      const timeline = this.#store.timeline(chatId).value;
      if (!timeline?.[end]) return;
      const from = bound(timeline);
      await this.#store.load(
        () => this.#client.messages.list({ chat_id: chatId, limit: scrollPageSize, ...from }),
        (page) =>
          this.#store.changeTimeline(chatId, (now) => {
            const { before_id, after_id } = bound(now);
            // The timeline was replaced in the meantime.
            if (before_id !== from.before_id || (end === 'hasNewer' && after_id !== from.after_id)) return now;
            return join(now, page);
          }),
      );
    });
  }

  #once(key: string, load: () => Promise<void>): Promise<void> {
    const running = this.#loading.get(key);
    if (running) return running;
    const started = load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, started);
    return started;
  }
}
