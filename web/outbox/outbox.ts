import { ApiError, type Client } from '@parley-chat/sdk';
import { type Signal, signal } from '@preact/signals';
import { result, transact } from '../store/database.ts';
import { filesOf, type MessageRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { Lease, leaseMs } from './lease.ts';
import type { AttachedFile } from './uploads.ts';

/** A message that the server does not have yet. */
export interface Unsent {
  /** Its place in the order. */
  readonly seq: number;
  /** The idempotency key: however often the message is sent, it arrives once. */
  readonly key: string;
  readonly chat_id: number;
  readonly content: string;
  readonly reply_to: number | null;
  /** Its files, which are uploaded already. */
  readonly files?: readonly AttachedFile[];
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Why the server refused it. It is not sent again by itself. */
  readonly refusal: string | null;
  /** The message that it became. Its response is still on the way. */
  readonly sentAs?: number;
}

export interface OutboxDeps {
  readonly db: IDBDatabase;
  readonly client: Client;
  readonly store: Store;
  readonly now: () => number;
  readonly newKey: () => string;
  /** Tells the other tabs that the outbox has changed, and listens to them. */
  readonly channel: BroadcastChannel;
  readonly signedOut: () => void;
  readonly onError: (error: unknown) => void;
}

/** The server keeps idempotency keys for this long. An older message could arrive twice, so the user decides. */
const maxAgeMs = 7 * 24 * 3_600_000;

/** So many own messages are remembered. */
const maxUnclaimed = 50;
const maxRecognized = 1_000;

const firstPauseMs = 500;
const maxPauseMs = 15_000;

/** Statuses of refusals that pass. */
const transient: readonly number[] = [408, 425, 429];

/** Sends messages in the order in which they were written, exactly once, from one tab at a time. They survive a reload. */
export class Outbox {
  readonly items: Signal<readonly Unsent[]> = signal([]);
  readonly #deps: OutboxDeps;
  readonly #lease: Lease;
  #wake: (() => void) | undefined;
  #isAwake = false;
  readonly #stopping = new AbortController();
  #pauseMs = firstPauseMs;
  readonly #recognized = new Set<number>();
  /** Own messages that were not in the outbox yet: another tab sent them before its note arrived here. */
  #unclaimed: readonly { readonly message: MessageRecord; readonly receivedAt: number }[] = [];

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#lease = new Lease(deps.db, 'outbox', deps.newKey(), deps.now);
    deps.channel.addEventListener('message', this.#changedElsewhere);
  }

  /** Loads what was not sent, and sends it. Resolves once it is stopped. */
  async start(): Promise<void> {
    await this.#load();
    while (!this.#stopping.signal.aborted) {
      const item = this.#next();
      if (!item) await this.#sleep();
      else await this.#sendWithLease(item);
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.leave();
    this.#deps.channel.removeEventListener('message', this.#changedElsewhere);
    this.wake();
  }

  /** Gives the turn to the next tab, because this one is about to go. */
  leave(): void {
    this.#lease.release().catch(() => {});
  }

  /** Tries again now, because the connection may be back. */
  wake(): void {
    this.#pauseMs = firstPauseMs;
    this.#isAwake = true;
    this.#wake?.();
  }

  /** Adds a message. It is shown at once. Resolves once it is stored. */
  async send(
    chatId: number,
    content: string,
    replyTo: number | null = null,
    files: readonly AttachedFile[] = [],
  ): Promise<void> {
    const { newKey, now } = this.#deps;
    const item = {
      key: newKey(),
      chat_id: chatId,
      content,
      reply_to: replyTo,
      ...(files.length > 0 && { files }),
      created_at: now(),
      refusal: null,
    };
    await transact(this.#deps.db, ['outbox', 'uploads'], 'readwrite', (store) => {
      // The files are in the message or beside it, whenever the page is reloaded.
      for (const { file_id } of files) store('uploads').delete(file_id);
      store('outbox').add(item);
    });
    await this.#changed();
  }

  /** Sends a refused or old message again, as a new one. */
  async retry(seq: number): Promise<void> {
    const { newKey, now } = this.#deps;
    await this.#edit(seq, (item) => ({ ...item, key: newKey(), created_at: now(), refusal: null }));
  }

  async discard(seq: number): Promise<void> {
    await this.#edit(seq, () => undefined);
  }

  /** The stream may bring a message before the response to its send does. It must not be shown twice. */
  recognize(message: MessageRecord): void {
    // A response and an event bring the same message. The second must not be taken for the next one with this text.
    if (message.user_id !== this.#deps.store.me.user_id || this.#recognized.has(message.message_id)) return;
    this.#remember(message.message_id);
    const first = this.items.value.find(
      ({ chat_id, refusal, sentAs }) => chat_id === message.chat_id && refusal === null && sentAs === undefined,
    );
    if (first && isSame(first, message)) this.#markSent((item) => item === first, message);
    else this.#unclaimed = [...this.#unclaimed.slice(1 - maxUnclaimed), { message, receivedAt: this.#deps.now() }];
  }

  #remember(messageId: number): void {
    this.#recognized.add(messageId);
    const [oldest] = this.#recognized;
    if (this.#recognized.size > maxRecognized && oldest !== undefined) this.#recognized.delete(oldest);
  }

  #markSent(isSent: (item: Unsent) => boolean, { message_id }: MessageRecord): void {
    this.#remember(message_id);
    this.items.value = this.items.value.map((item) => (isSent(item) ? { ...item, sentAs: message_id } : item));
  }

  isOld({ created_at }: Unsent): boolean {
    return this.#deps.now() - created_at > maxAgeMs;
  }

  #next(): Unsent | undefined {
    return this.items.value.find((item) => item.refusal === null && !this.isOld(item));
  }

  async #sendWithLease(item: Unsent): Promise<void> {
    const waitMs = await this.#lease.take();
    // The tab that has the lease says when it is done, or goes away without a word.
    if (waitMs > 0) return this.#sleep(waitMs);
    const renewal = setInterval(() => void this.#lease.take().catch(this.#deps.onError), leaseMs / 3);
    try {
      await this.#load();
      // Another tab may have sent it before we got the lease.
      if (this.items.value.some(({ key }) => key === item.key)) await this.#sendOnce(item);
    } finally {
      clearInterval(renewal);
      if (!this.#stopping.signal.aborted) await this.#lease.release();
    }
  }

  async #sendOnce(item: Unsent): Promise<void> {
    const { client, store, signedOut } = this.#deps;
    const { chat_id, content, reply_to, files, key } = item;
    try {
      const input = {
        chat_id,
        ...(content !== '' && { content }),
        ...(reply_to !== null && { reply_to }),
        ...(files && { file_ids: files.map(({ file_id }) => file_id) }),
      };
      const { message } = await client.messages.send(input, {
        idempotencyKey: key,
        signal: this.#stopping.signal,
      });
      this.#pauseMs = firstPauseMs;
      this.#markSent(({ key: own }) => own === key, message);
      store.addMessage(message);
      await this.#edit(item.seq, () => undefined);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) {
        this.stop();
        return signedOut();
      }
      const isRefused = error instanceof ApiError && error.status < 500 && !transient.includes(error.status);
      if (isRefused) return this.#edit(item.seq, (now) => ({ ...now, refusal: error.message }));
      await this.#sleep(this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs);
    }
  }

  /** Waits for a change, or so many milliseconds at most. */
  async #sleep(ms?: number): Promise<void> {
    if (!this.#isAwake && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (ms !== undefined) setTimeout(resolve, ms);
      });
    }
    this.#isAwake = false;
    this.#wake = undefined;
  }

  /** Changes a message, or deletes it if the change returns undefined. */
  async #edit(seq: number, change: (item: Unsent) => Unsent | undefined): Promise<void> {
    await transact(this.#deps.db, ['outbox'], 'readwrite', async (store) => {
      const item = await result<Unsent | undefined>(store('outbox').get(seq));
      const changed = item && change(item);
      if (changed) store('outbox').put(changed);
      else store('outbox').delete(seq);
    });
    await this.#changed();
  }

  async #changed(): Promise<void> {
    await this.#load();
    this.#deps.channel.postMessage('changed');
    this.wake();
  }

  readonly #changedElsewhere = (): void => {
    this.#load()
      .then(() => this.wake())
      .catch(this.#deps.onError);
  };

  /** Returns the message that an item became before it was known here. It was written before the message arrived. */
  #claim(item: Unsent): number | undefined {
    const found = this.#unclaimed.find(
      ({ message, receivedAt }) => item.refusal === null && item.created_at <= receivedAt && isSame(item, message),
    );
    this.#unclaimed = this.#unclaimed.filter((one) => one !== found);
    return found?.message.message_id;
  }

  async #load(): Promise<void> {
    const stored = await transact(this.#deps.db, ['outbox'], 'readonly', (store) =>
      result<Unsent[]>(store('outbox').getAll()),
    );
    const sentAs = new Map(this.items.value.map((item) => [item.key, item.sentAs]));
    this.items.value = stored.map((item) => {
      const id = sentAs.get(item.key) ?? this.#claim(item);
      return id === undefined ? item : { ...item, sentAs: id };
    });
  }
}

const isSame = (item: Unsent, message: MessageRecord): boolean =>
  item.chat_id === message.chat_id &&
  item.content === message.content &&
  item.reply_to === message.reply_to &&
  hasSameFiles(item, message);

const hasSameFiles = ({ files = [] }: Unsent, message: MessageRecord): boolean => {
  const sent = filesOf(message);
  return files.length === sent.length && files.every(({ file_id }, i) => file_id === sent[i]?.file_id);
};
