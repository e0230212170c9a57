import { ApiError, type Client, TransportError } from '@parley-chat/sdk';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { maxUploadBytes, uploadFile } from '@parley-chat/sdk/uploads';
import { type Signal, signal } from '@preact/signals';
import { fileSize } from '../lib/file-size.ts';
import { result, transact } from '../store/database.ts';
import { text } from '../text/text.ts';
import { type Conversation, type ConversationKey, conversationKey } from './conversation.ts';
import { Lease, leaseMs } from './lease.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** A file that the server has, and that no message carries yet. */
export interface AttachedFile {
  readonly file_id: number;
  readonly name: string;
  readonly size: number;
}

/** A file of a message in the outbox that the server does not have yet. */
export interface PendingFile {
  /** The key of its upload. */
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** The upload on the server, once it has begun. */
  readonly upload_id?: string;
  /** Why it is not uploaded. The user decides what to do. */
  readonly problem?: string;
  /** This browser does not have its bytes any more. */
  readonly is_lost?: true;
}

export type UnsentFile = AttachedFile | PendingFile;

export const isPending = (file: UnsentFile): file is PendingFile => !('file_id' in file);

export type UploadState =
  | { readonly name: 'waiting' }
  /** `delay`: why it does not go on, if the server says so. It does by itself later. */
  | { readonly name: 'uploading'; readonly delay?: Refusal }
  /** `isTransient`: it is resumed when the connection is back. `isFinal`: the server would refuse the same file again. */
  | { readonly name: 'failed'; readonly problem: string; readonly isTransient?: boolean; readonly isFinal?: boolean }
  | { readonly name: 'done'; readonly fileId: number };

/** A file on its way to the server. */
export interface Upload {
  readonly key: string;
  /** Whose next message it belongs to. Null once its message is in the outbox. */
  readonly conversation: ConversationKey | null;
  readonly name: string;
  readonly size: number;
  /** The bytes that the server has. */
  readonly sent: number;
  readonly state: UploadState;
  /** The URL of a picture in the memory of this tab. */
  readonly preview: string | undefined;
}

/** A finished upload as it is stored. */
interface StoredFile extends AttachedFile {
  readonly conversation: ConversationKey;
  /** Milliseconds since 1970. */
  readonly uploaded_at: number;
}

/** What only the running upload needs. */
interface Source {
  readonly blob: Blob;
  readonly stopping: AbortController;
  /** The upload on the server, once it has begun. */
  uploadId?: string | undefined;
}

export interface UploadsDeps {
  readonly db: IDBDatabase;
  readonly client: Client;
  readonly now: () => number;
  readonly newKey: () => string;
  /** Changes a file of a message in the outbox, if it is still pending there. Undefined removes it from the message. */
  readonly changeFile: (key: string, change: (file: PendingFile) => UnsentFile | undefined) => Promise<void>;
  /** Called with errors that no view shows. */
  readonly onError: (error: unknown) => void;
  /** Failures in a row before an upload waits for the connection. */
  readonly retries?: number;
}

/** The server keeps a file without a message for 24 hours. */
const fileRetentionMs = 23 * 3_600_000;

/** A browser has six connections to a host, and the stream is one of them. */
const maxConcurrent = 2;

const minPieceBytes = 256 * 1_024;
const maxPieceBytes = 8 * 1_024 ** 2;
/** A progress bar moves after each piece. */
const pieces = 50;

/** The server takes the file later, as with a full disk. */
const delays: readonly string[] = ['unavailable', 'rate_limited'];

const maxPreviewBytes = 20 * 1_024 ** 2;

/**
 * Uploads files: those of the composer, and those of messages in the outbox. Of the composer's files, those that are uploaded
 * survive a reload. Of the outbox's files all do, because their bytes are stored.
 */
export class Uploads {
  readonly items: Signal<readonly Upload[]> = signal([]);
  readonly #deps: UploadsDeps;
  readonly #owner: string;
  readonly #sources = new Map<string, Source>();
  /** Files that this tab uploads for the outbox. */
  readonly #leases = new Map<string, Lease>();
  #renewal: ReturnType<typeof setInterval> | undefined;
  /** Files for whose lease this tab waits. */
  readonly #claims = new Map<string, AbortController>();

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
    this.#owner = deps.newKey();
  }

  /** Shows what was uploaded before a reload. */
  async load(): Promise<void> {
    const { db } = this.#deps;
    const stored = await transact(db, ['uploads'], 'readwrite', async (store) => {
      const files = await result<StoredFile[]>(store('uploads').getAll());
      const isGone = ({ uploaded_at }: StoredFile) => !this.#isKept(uploaded_at);
      for (const { file_id } of files.filter(isGone)) store('uploads').delete(file_id);
      return files.filter((file) => !isGone(file));
    });
    this.items.value = [...stored.map((file) => this.#finished(file.conversation, file)), ...this.items.value];
  }

  /** Returns the files of the next message. */
  of(conversation: Conversation): readonly Upload[] {
    const key = conversationKey(conversation);
    return this.items.value.filter((item) => item.conversation === key);
  }

  find(key: string): Upload | undefined {
    return this.items.value.find((item) => item.key === key);
  }

  /** Starts to upload files, in their order. */
  add(conversation: Conversation, files: readonly File[]): void {
    const place = conversationKey(conversation);
    this.#start(files.map((file) => ({ ...this.#begun(file, cleanName(file.name)), conversation: place })));
  }

  /** Stops an upload, or removes a finished one. */
  remove(key: string): void {
    const item = this.find(key);
    if (!item) return;
    this.#drop([item]);
    if (item.state.name === 'done') this.#deleteStored(item.state.fileId);
    this.#startNext();
  }

  /** Resumes an upload that has failed. */
  retry(key: string): void {
    this.#change(key, ({ state }) => (state.name === 'failed' ? { state: { name: 'waiting' } } : {}));
    this.#startNext();
  }

  /** The connection is back: resumes the uploads that failed without it. */
  wake(): void {
    for (const { key, state } of this.items.value) if (state.name === 'failed' && state.isTransient) this.retry(key);
  }

  /**
   * Returns the files of the next message, and shows them in the composer no longer. Their uploads go on. The message must be
   * put into the outbox at once: an upload that ends looks for it there.
   */
  take(conversation: Conversation): readonly UnsentFile[] {
    const taken = this.of(conversation);
    const files = taken.map((item): UnsentFile => {
      const { key, name, size, state } = item;
      if (state.name === 'done') return attached(item, state.fileId);
      const uploadId = this.#sources.get(key)?.uploadId;
      return { key, name, size, ...(uploadId !== undefined && { upload_id: uploadId }) };
    });
    this.#drop(taken.filter(({ state }) => state.name === 'done'));
    for (const { key } of files.filter(isPending)) {
      this.#change(key, () => ({ conversation: null }));
      // Another tab learns of the message later. So it does not take the lease first.
      const lease = this.#leaseOf(key);
      lease.take().catch(this.#deps.onError);
      this.#hold(key, lease);
    }
    return files;
  }

  /** Puts the files of a message that is not sent back to the composer. */
  async putBack(conversation: Conversation, files: readonly UnsentFile[], uploadedAt: number): Promise<void> {
    const place = conversationKey(conversation);
    for (const file of files) {
      if (isPending(file)) {
        if (this.find(file.key)) this.#change(file.key, () => ({ conversation: place }));
        else {
          const bytes = await this.#bytesOf(file.key);
          if (bytes) this.#start([{ ...this.#begun(bytes, file.name), conversation: place }]);
        }
      } else if (this.#isKept(uploadedAt)) {
        await this.#store({ ...file, conversation: place, uploaded_at: uploadedAt });
        this.items.value = [...this.items.value, this.#finished(place, file)];
      }
    }
  }

  /** Stores the bytes of files whose message is in the outbox. */
  async keep(files: readonly PendingFile[]): Promise<void> {
    for (const { key } of files) {
      const source = this.#sources.get(key);
      // Without room for the bytes, the upload still ends unless the page goes. Then the message says what is missing.
      if (source) await this.#writeBytes((bytes) => bytes.put(source.blob, key)).catch(() => {});
    }
  }

  /** Uploads files of the outbox that no other tab uploads: those from before a reload, or of a tab that is gone. */
  resume(files: readonly PendingFile[]): void {
    for (const file of files) {
      const isKnown = this.#sources.has(file.key) || this.#claims.has(file.key);
      if (file.problem === undefined && !isKnown) this.#claim(file).catch(this.#deps.onError);
    }
  }

  /** The outbox waits for these files no longer. */
  release(keys: readonly string[]): void {
    for (const key of keys) {
      this.#claims.get(key)?.abort();
      // One that was put back to the composer goes on.
      const item = this.find(key);
      if (item?.conversation === null) this.#drop([item]);
      this.#leases.get(key)?.release().catch(this.#deps.onError);
      this.#leases.delete(key);
      this.#writeBytes((bytes) => bytes.delete(key)).catch(this.#deps.onError);
    }
    if (this.#leases.size === 0) {
      clearInterval(this.#renewal);
      this.#renewal = undefined;
    }
    this.#startNext();
  }

  /** Deletes bytes that no message needs. A page may go before it does so. */
  async sweep(): Promise<void> {
    await transact(this.#deps.db, ['outbox', 'bytes'], 'readwrite', async (store) => {
      const [keys, messages] = await Promise.all([
        result(store('bytes').getAllKeys()),
        result<{ readonly files?: readonly UnsentFile[] }[]>(store('outbox').getAll()),
      ]);
      const needed = new Set(messages.flatMap(({ files = [] }) => files.filter(isPending).map(({ key }) => key)));
      for (const key of keys) if (!needed.has(String(key))) store('bytes').delete(key);
    });
  }

  /** Lets other tabs upload what the outbox waits for, because this one is about to go. */
  leave(): void {
    for (const lease of this.#leases.values()) lease.release().catch(() => {});
  }

  stop(): void {
    clearInterval(this.#renewal);
    for (const stopping of this.#claims.values()) stopping.abort();
    for (const { stopping } of this.#sources.values()) stopping.abort();
    this.leave();
  }

  /** Takes a file over as soon as no other tab uploads it. */
  async #claim({ key, name, upload_id }: PendingFile): Promise<void> {
    const stopping = new AbortController();
    const { signal } = stopping;
    this.#claims.set(key, stopping);
    try {
      const lease = this.#leaseOf(key);
      for (;;) {
        const waitMs = await lease.take();
        if (waitMs === 0) break;
        await systemClock.sleep(waitMs, signal);
      }
      if (signal.aborted) return await lease.release();
      this.#hold(key, lease);
      const bytes = await this.#bytesOf(key);
      if (signal.aborted) return;
      if (bytes) this.#start([this.#begun(bytes, name, { key, uploadId: upload_id })]);
      else await this.#deps.changeFile(key, (file) => ({ ...file, problem: text.uploads.lost, is_lost: true }));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#claims.delete(key);
    }
  }

  #leaseOf(key: string): Lease {
    return new Lease(this.#deps.db, `upload ${key}`, this.#owner, this.#deps.now);
  }

  /** Extends a lease until it is released. A tab that loses one goes on: two uploads of a file do no harm. */
  #hold(key: string, lease: Lease): void {
    this.#leases.set(key, lease);
    this.#renewal ??= setInterval(() => {
      for (const held of this.#leases.values()) held.take().catch(this.#deps.onError);
    }, leaseMs / 3);
  }

  #bytesOf(key: string): Promise<Blob | undefined> {
    return transact(this.#deps.db, ['bytes'], 'readonly', (store) => result<Blob | undefined>(store('bytes').get(key)));
  }

  #writeBytes(write: (bytes: IDBObjectStore) => void): Promise<void> {
    return transact(this.#deps.db, ['bytes'], 'readwrite', (store) => write(store('bytes')));
  }

  #isKept(uploadedAt: number): boolean {
    return this.#deps.now() - uploadedAt <= fileRetentionMs;
  }

  /** Returns a new upload of the outbox, and keeps its bytes at hand. */
  #begun(blob: Blob, name: string, of: { readonly key?: string; readonly uploadId?: string | undefined } = {}): Upload {
    const key = of.key ?? this.#deps.newKey();
    this.#sources.set(key, { blob, stopping: new AbortController(), uploadId: of.uploadId });
    const state: UploadState =
      blob.size === 0 ? { name: 'failed', problem: text.uploads.empty, isFinal: true } : { name: 'waiting' };
    return { key, conversation: null, name, size: blob.size, sent: 0, state, preview: previewOf(blob) };
  }

  #finished(conversation: ConversationKey, { file_id, name, size }: AttachedFile): Upload {
    const state = { name: 'done', fileId: file_id } as const;
    return { key: this.#deps.newKey(), conversation, name, size, sent: size, state, preview: undefined };
  }

  #start(items: readonly Upload[]): void {
    this.items.value = [...this.items.value, ...items];
    this.#startNext();
  }

  #deleteStored(fileId: number): void {
    const { db, onError } = this.#deps;
    transact(db, ['uploads'], 'readwrite', (store) => result(store('uploads').delete(fileId))).catch(onError);
  }

  #drop(items: readonly Upload[]): void {
    this.items.value = this.items.value.filter((one) => !items.some(({ key }) => key === one.key));
    for (const { key, preview } of items) {
      this.#sources.get(key)?.stopping.abort();
      this.#sources.delete(key);
      if (preview !== undefined) URL.revokeObjectURL(preview);
    }
  }

  #change(key: string, change: (item: Upload) => Partial<Upload>): void {
    this.items.value = this.items.value.map((item) => (item.key === key ? { ...item, ...change(item) } : item));
  }

  #startNext(): void {
    const running = this.items.value.filter(({ state }) => state.name === 'uploading').length;
    const next = this.items.value.filter(({ state }) => state.name === 'waiting').slice(0, maxConcurrent - running);
    for (const item of next) {
      const source = this.#sources.get(item.key);
      if (!source) continue;
      this.#change(item.key, () => ({ state: { name: 'uploading' } }));
      void this.#upload(item, source).finally(() => this.#startNext());
    }
  }

  async #upload(item: Upload, source: Source): Promise<void> {
    const { client, onError, retries } = this.#deps;
    const { key, size } = item;
    try {
      const { file_id } = await uploadFile(client, source.blob, {
        name: item.name,
        uploadId: source.uploadId,
        onStart: (uploadId) => {
          source.uploadId = uploadId;
          this.#changeSent(key, (file) => ({ ...file, upload_id: uploadId })).catch(onError);
        },
        onProgress: ({ sent }) =>
          this.#change(key, (item) => ({ sent, ...(sent > item.sent && { state: { name: 'uploading' } }) })),
        onRetry: (error) => {
          if (error instanceof ApiError)
            this.#change(key, () => ({ state: { name: 'uploading', delay: refusalOf(error) } }));
        },
        pieceBytes: Math.min(Math.max(Math.ceil(size / pieces), minPieceBytes), maxPieceBytes),
        retries,
        signal: source.stopping.signal,
      });
      if (!source.stopping.signal.aborted) await this.#finish(key, attached(item, file_id));
    } catch (error) {
      if (source.stopping.signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) onError(error);
      if (error instanceof ApiError && delays.includes(error.code)) return this.#upload(item, source);
      const problem = await this.#problemOf(error);
      const isTransient = error instanceof TransportError;
      const isFinal = error instanceof ApiError && error.code === 'payload_too_large';
      this.#change(key, () => ({ state: { name: 'failed', problem, isTransient, isFinal } }));
      if (!isTransient) await this.#changeSent(key, (file) => ({ ...file, problem })).catch(onError);
    }
  }

  async #finish(key: string, file: AttachedFile): Promise<void> {
    const conversation = this.find(key)?.conversation;
    if (conversation) await this.#store({ ...file, conversation, uploaded_at: this.#deps.now() });
    this.#change(key, () => ({ sent: file.size, state: { name: 'done', fileId: file.file_id } }));
    // The message may have been sent in the meantime.
    await this.#changeSent(key, () => file);
  }

  /** Changes a file whose message is in the outbox. */
  async #changeSent(key: string, change: (file: PendingFile) => UnsentFile): Promise<void> {
    if (this.find(key)?.conversation === null) await this.#deps.changeFile(key, change);
  }

  /** Returns why an upload failed, for people. */
  async #problemOf(error: unknown): Promise<string> {
    if (error instanceof TransportError) return text.uploads.disconnected;
    if (!(error instanceof ApiError)) return text.uploads.failed;
    if (error.code === 'payload_too_large') {
      const max = await maxUploadBytes(this.#deps.client).catch(() => undefined);
      return max === undefined ? text.uploads.tooLargeAnyway : text.uploads.tooLarge(fileSize(max));
    }
    return { conflict: text.uploads.quota, internal: text.uploads.failed }[error.code as string] ?? error.message;
  }

  async #store(row: StoredFile): Promise<void> {
    await transact(this.#deps.db, ['uploads'], 'readwrite', (store) => result(store('uploads').put(row)));
  }
}

const attached = ({ name, size }: Upload, fileId: number): AttachedFile => ({ file_id: fileId, name, size });

/** Bytes of UTF-8 that a name may have. */
const maxNameBytes = 255;

/** Returns a name that the server accepts: without control characters, marks of direction and slashes, and not too long. */
export function cleanName(name: string): string {
  const visible = name
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
    .replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/[/\\]/g, '_')
    .trim();
  if (visible === '' || visible === '.' || visible === '..') return text.uploads.unnamed;
  const extension = /\.[^.]{1,16}$/.exec(visible)?.[0] ?? '';
  const bytesOf = (part: string) => new TextEncoder().encode(part).length;
  const stem = [...visible.slice(0, visible.length - extension.length)];
  while (stem.length > 0 && bytesOf(stem.join('')) + bytesOf(extension) > maxNameBytes) stem.pop();
  return `${stem.join('')}${extension}`;
}

const previewOf = (blob: Blob): string | undefined =>
  /^image\/(?:png|jpeg|gif|webp|bmp)$/.test(blob.type) && blob.size <= maxPreviewBytes
    ? URL.createObjectURL(blob)
    : undefined;
