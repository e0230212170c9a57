import { ApiError, type Client } from '@parley-chat/sdk';
import { type Signal, signal } from '@preact/signals';
import { result, transact } from '../store/database.ts';
import { filesOf, type MessageRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';
import { Lease, leaseMs } from './lease.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { isPending, type PendingFile, type UnsentFile, type Uploads } from './uploads.ts';

/** A message that the server does not have yet. */
export interface Unsent {
  /** Its place in the order. */
  readonly seq: number;
  /** The idempotency key: however often the message is sent, it arrives once. */
  readonly key: string;
  readonly chat_id: number;
  readonly content: string;
  readonly reply_to: number | null;
  /** Its files. It is sent once all of them are uploaded. */
  readonly files?: readonly UnsentFile[];
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Why the server refused it. It is not sent again by itself. */
  readonly refusal: Refusal | null;
  /** The id that the message will have is higher than this one. */
  readonly after: number;
}

export type NewUnsent = Omit<Unsent, 'seq'>;

/** The parts of a message besides its text. */
export interface Extras {
  /** The thread that it is written in. */
  readonly threadId?: number | undefined;
  readonly replyTo?: number | undefined;
  readonly files?: readonly UnsentFile[];
}

export interface OutboxDeps {
  readonly db: IDBDatabase;
  readonly journal: Journal<NewUnsent>;
  readonly client: Client;
  readonly store: Store;
  readonly uploads: Pick<Uploads, 'keep' | 'resume' | 'release' | 'retry' | 'sweep'>;
  readonly now: () => number;
  readonly newKey: () => string;
  /** Tells the other tabs that the outbox has changed, and listens to them. */
  readonly channel: BroadcastChannel;
  readonly signedOut: () => void;
  readonly onError: (error: unknown) => void;
}

/** The server keeps idempotency keys for this long. An older message could arrive twice, so the user decides. */
const keyRetentionMs = 7 * 24 * 3_600_000;

/** The server accepts so many in one message. More become further messages. */
const maxFiles = 10;

const firstPauseMs = 500;
const maxPauseMs = 15_000;

/** Statuses of refusals that pass. */
const transient: readonly number[] = [408, 425, 429];

/**
 * Sends messages in the order in which they were written, exactly once, from one tab at a time. They survive a reload. A message
 * with files waits for their uploads. Texts that were written later do not wait for it, but messages with files do.
 */
export class Outbox {
  readonly items: Signal<readonly Unsent[]> = signal([]);
  /** Why all messages wait, if the server says so. They are sent by themselves later. */
  readonly delay: Signal<Refusal | undefined> = signal(undefined);
  readonly #deps: OutboxDeps;
  readonly #lease: Lease;
  #wake: (() => void) | undefined;
  #isAwake = false;
  readonly #stopping = new AbortController();
  #pauseMs = firstPauseMs;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#lease = new Lease(deps.db, 'outbox', deps.newKey(), deps.now);
    deps.channel.addEventListener('message', this.#changedElsewhere);
    deps.store.listen({ timelineChanged: (chatId) => void this.#removeArrived(chatId).catch(deps.onError) });
  }

  /** Loads what was not sent, and sends it. Resolves once it is stopped. */
  async start(): Promise<void> {
    const { journal, uploads, onError } = this.#deps;
    const left = journal.all().sort((one, other) => one.created_at - other.created_at);
    // A failure is reported. The outbox still sends what people write from now on.
    await this.#add(left).catch(onError);
    await this.#load().catch(onError);
    uploads.sweep().catch(onError);
    while (!this.#stopping.signal.aborted) {
      const item = this.next();
      if (!item) await this.#sleep();
      else await this.#sendWithLease(item).catch((error) => this.#storageFailed(error));
    }
  }

  /** The message is still stored, or in memory. It is tried again like after a lost connection. */
  async #storageFailed(error: unknown): Promise<void> {
    this.#deps.onError(error);
    await this.#sleep(maxPauseMs);
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
  async send(chatId: number, content: string, { threadId, replyTo, files = [] }: Extras = {}): Promise<void> {
    const { newKey, now, store, journal, uploads } = this.#deps;
    const at = now();
    const common = { chat_id: chatId, after: store.newestId(chatId), refusal: null };
    const items = partsOf(files).map((part, i) => ({
      ...common,
      created_at: at + i,
      key: newKey(),
      content: i === 0 ? content : '',
      reply_to: (i === 0 ? replyTo : undefined) ?? threadId ?? null,
      ...(part.length > 0 && { files: part }),
    }));
    for (const item of items) journal.add(item);
    await this.#add(items);
    await this.#changed();
    await uploads.keep(files.filter(isPending));
  }

  async #add(items: readonly NewUnsent[]): Promise<void> {
    await transact(this.#deps.db, ['outbox', 'uploads'], 'readwrite', async (store) => {
      for (const item of items) {
        // The tab that wrote it, and another one that finds it in the journal, may both add it.
        if (await result(store('outbox').index('key').getKey(item.key))) continue;
        // The files are in the message or beside it, whenever the page is reloaded.
        for (const file of item.files ?? []) if (!isPending(file)) store('uploads').delete(file.file_id);
        store('outbox').add(item);
      }
    });
    for (const item of items) this.#deps.journal.remove(item);
  }

  /** Sends a message again, as a new one, that was refused, is old, or has files that were not uploaded. */
  async retry(seq: number): Promise<void> {
    const { newKey, now, store, uploads } = this.#deps;
    const renewed = ({ chat_id }: Unsent) => ({ key: newKey(), created_at: now(), after: store.newestId(chat_id) });
    const pending = this.items.value.filter((item) => item.seq === seq).flatMap(pendingFilesOf);
    await this.#edit(seq, ({ files, ...item }) => ({
      ...item,
      ...renewed(item),
      ...(files && { files: files.map(withoutProblem) }),
      refusal: null,
    }));
    for (const { key } of pending) uploads.retry(key);
  }

  async discard(seq: number): Promise<void> {
    await this.#edit(seq, () => undefined);
  }

  /**
   * Changes a file of a message, if it is still pending. Undefined removes it, and the message too if nothing is left of it.
   */
  async changeFile(key: string, change: (file: PendingFile) => UnsentFile | undefined): Promise<void> {
    await transact(this.#deps.db, ['outbox', 'uploads'], 'readwrite', async (store) => {
      const items = await result<Unsent[]>(store('outbox').getAll());
      const item = items.find((one) => pendingFilesOf(one).some((file) => file.key === key));
      if (!item) return;
      const { files: before = [], ...message } = item;
      const files = before.flatMap((file) => (isPending(file) && file.key === key ? (change(file) ?? []) : file));
      for (const file of files) if (!isPending(file)) store('uploads').delete(file.file_id);
      if (files.length === 0 && message.content.trim() === '') store('outbox').delete(item.seq);
      else store('outbox').put({ ...message, ...(files.length > 0 && { files }) });
    });
    await this.#changed();
  }

  /** Returns the messages of a chat that are not among these yet. The stream may bring one before the response to its send does. */
  unsentIn(chatId: number, messages: readonly MessageRecord[]): Unsent[] {
    return this.#match(chatId, messages).flatMap(({ item, sent }) => (sent ? [] : item));
  }

  /** Returns the items of a chat, each with its message if that is among these. */
  #match(
    chatId: number,
    messages: readonly MessageRecord[],
  ): { readonly item: Unsent; readonly sent?: MessageRecord }[] {
    const { user_id } = this.#deps.store.me;
    const matched = new Set<number>();
    return this.items.value
      .filter(({ chat_id }) => chat_id === chatId)
      .map((item) => {
        const sent = messages.find(
          (message) =>
            message.message_id > item.after &&
            message.user_id === user_id &&
            !matched.has(message.message_id) &&
            isSame(item, message),
        );
        if (!sent || item.refusal !== null) return { item };
        matched.add(sent.message_id);
        return { item, sent };
      });
  }

  /** Removes the old messages of a chat that did arrive. Others are removed by the response to their send, but these are not sent. */
  async #removeArrived(chatId: number): Promise<void> {
    const isOldHere = (item: Unsent) => item.chat_id === chatId && this.isOld(item);
    if (this.#stopping.signal.aborted || !this.items.peek().some(isOldHere)) return;
    const messages = this.#deps.store.peekTimeline(chatId)?.messages ?? [];
    for (const { item, sent } of this.#match(chatId, messages)) {
      if (sent && this.isOld(item)) await this.#removeSent(item, sent);
    }
  }

  isOld({ created_at }: Unsent): boolean {
    return this.#deps.now() - created_at > keyRetentionMs;
  }

  /** Returns whether a message is sent by itself. The user decides about the others, which hold up none. */
  isOnItsWay(item: Unsent): boolean {
    return item.refusal === null && !this.isOld(item) && !pendingFilesOf(item).some(({ problem }) => problem);
  }

  /** Returns the message that is sent next. */
  next(): Unsent | undefined {
    /** Chats in which a message waits for its files. */
    const waiting = new Set<number>();
    return this.items.value.find((item) => {
      if (!this.isOnItsWay(item)) return false;
      if (pendingFilesOf(item).length > 0) waiting.add(item.chat_id);
      return !item.files || !waiting.has(item.chat_id);
    });
  }

  async #sendWithLease(item: Unsent): Promise<void> {
    const waitMs = await this.#lease.take();
    // The tab that has the lease says when it is done, or goes away without a word.
    if (waitMs > 0) return this.#sleep(waitMs);
    const renewal = setInterval(() => void this.#lease.take().catch(this.#deps.onError), leaseMs / 3);
    let isDone = true;
    try {
      await this.#load();
      // Another tab may have sent or changed it before we got the lease.
      const next = this.next();
      if (next?.key === item.key) isDone = await this.#sendOnce(next);
    } finally {
      clearInterval(renewal);
      if (!this.#stopping.signal.aborted) await this.#lease.release();
    }
    if (isDone) return;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    await this.#sleep(pauseMs);
  }

  /** Returns false if it must be tried again later. */
  async #sendOnce(item: Unsent): Promise<boolean> {
    const { client, store, signedOut } = this.#deps;
    const { chat_id, content, reply_to, files, key } = item;
    try {
      const input = {
        chat_id,
        ...(content !== '' && { content }),
        ...(reply_to !== null && { reply_to }),
        ...(files && { file_ids: files.flatMap((file) => (isPending(file) ? [] : file.file_id)) }),
      };
      const { message } = await client.messages.send(input, {
        idempotencyKey: key,
        signal: this.#stopping.signal,
      });
      this.#pauseMs = firstPauseMs;
      this.delay.value = undefined;
      store.addMessage(message);
      await this.#removeSent(item, message);
    } catch (error) {
      if (this.#stopping.signal.aborted) return true;
      const isRefused = error instanceof ApiError && error.status < 500 && !transient.includes(error.status);
      this.delay.value = error instanceof ApiError && !isRefused ? refusalOf(error) : undefined;
      if (!isRefused) {
        this.#pauseMs = Math.max(this.#pauseMs, ((error as Partial<ApiError>).retryAfter ?? 0) * 1_000);
        return false;
      }
      if (error.status === 401) {
        this.stop();
        signedOut();
      } else await this.#edit(item.seq, (now) => ({ ...now, refusal: refusalOf(error) }));
    }
    return true;
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

  /** Removes a message that was sent. Those with the same text are other messages. */
  async #removeSent({ seq, chat_id }: Unsent, message: MessageRecord): Promise<void> {
    const { message_id } = message;
    await transact(this.#deps.db, ['outbox'], 'readwrite', async (store) => {
      store('outbox').delete(seq);
      for (const item of await result<Unsent[]>(store('outbox').getAll())) {
        const isOther = item.chat_id === chat_id && item.after < message_id && isSame(item, message);
        if (isOther) store('outbox').put({ ...item, after: message_id });
      }
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

  async #load(): Promise<void> {
    const before = this.items.peek().flatMap(pendingFilesOf);
    this.items.value = await transact(this.#deps.db, ['outbox'], 'readonly', (store) =>
      result<Unsent[]>(store('outbox').getAll()),
    );
    if (this.#stopping.signal.aborted) return;
    const pending = this.items.peek().flatMap(pendingFilesOf);
    const keys = new Set(pending.map(({ key }) => key));
    const settled = before.filter(({ key }) => !keys.has(key));
    if (settled.length > 0) this.#deps.uploads.release(settled.map(({ key }) => key));
    this.#deps.uploads.resume(pending);
    const old = this.items.peek().filter((item) => this.isOld(item));
    for (const chatId of new Set(old.map(({ chat_id }) => chat_id))) await this.#removeArrived(chatId);
  }
}

export const pendingFilesOf = ({ files = [] }: Pick<Unsent, 'files'>): readonly PendingFile[] =>
  files.filter(isPending);

function withoutProblem(file: UnsentFile): UnsentFile {
  if (!isPending(file)) return file;
  const { problem: _, is_lost: __, ...rest } = file;
  return rest;
}

/** Returns the files of each message. The first one may have none. */
const partsOf = (files: readonly UnsentFile[]): readonly (readonly UnsentFile[])[] =>
  Array.from({ length: Math.max(1, Math.ceil(files.length / maxFiles)) }, (_, i) =>
    files.slice(i * maxFiles, (i + 1) * maxFiles),
  );

const isSame = (item: Unsent, message: MessageRecord): boolean =>
  item.content === message.content && item.reply_to === message.reply_to && hasSameFiles(item, message);

const hasSameFiles = ({ files = [] }: Unsent, message: MessageRecord): boolean => {
  const sent = filesOf(message);
  return (
    files.length === sent.length && files.every((file, i) => !isPending(file) && file.file_id === sent[i]?.file_id)
  );
};
