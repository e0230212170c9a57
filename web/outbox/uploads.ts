import { ApiError, type Client, TransportError } from '@parley-chat/sdk';
import { uploadFile } from '@parley-chat/sdk/uploads';
import { type Signal, signal } from '@preact/signals';
import { result, transact } from '../store/database.ts';

/** A file that the server has, and that no message carries yet. */
export interface AttachedFile {
  readonly file_id: number;
  readonly name: string;
  readonly size: number;
}

export type UploadState =
  | { readonly name: 'waiting' }
  | { readonly name: 'uploading' }
  /** `isTransient`: it is resumed when the connection is back. */
  | { readonly name: 'failed'; readonly problem: string; readonly isTransient: boolean }
  | { readonly name: 'done'; readonly fileId: number };

/** A file on its way to the server. */
export interface Upload {
  readonly id: number;
  readonly chat_id: number;
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
  readonly chat_id: number;
  /** Milliseconds since 1970. */
  readonly uploaded_at: number;
}

/** What only the running upload needs. */
interface Source {
  readonly blob: Blob;
  readonly stopping: AbortController;
  /** The upload on the server, once it has begun. */
  uploadId?: string;
}

export interface UploadsDeps {
  readonly db: IDBDatabase;
  readonly client: Client;
  readonly now: () => number;
  /** Called with errors that no view shows. */
  readonly onError: (error: unknown) => void;
  /** Failures in a row before an upload waits for the connection. */
  readonly retries?: number;
}

/** The server removes a file without a message after 24 hours. */
const maxAgeMs = 23 * 3_600_000;

/** A browser has six connections to a host, and the stream is one of them. */
const maxConcurrent = 2;

const minPieceBytes = 256 * 1_024;
const maxPieceBytes = 8 * 1_024 ** 2;
/** A progress bar moves after each piece. */
const pieces = 50;

const maxPreviewBytes = 20 * 1_024 ** 2;

/** Uploads the files of the composer. What is uploaded but not sent survives a reload. */
export class Uploads {
  readonly items: Signal<readonly Upload[]> = signal([]);
  readonly #deps: UploadsDeps;
  readonly #sources = new Map<number, Source>();
  #lastId = 0;

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  /** Shows what was uploaded before a reload. */
  async load(): Promise<void> {
    const { db, now } = this.#deps;
    const stored = await transact(db, ['uploads'], 'readwrite', async (store) => {
      const files = await result<StoredFile[]>(store('uploads').getAll());
      const isGone = ({ uploaded_at }: StoredFile) => now() - uploaded_at > maxAgeMs;
      for (const { file_id } of files.filter(isGone)) store('uploads').delete(file_id);
      return files.filter((file) => !isGone(file));
    });
    const items = stored.map(({ file_id, chat_id, name, size }): Upload => {
      const state = { name: 'done', fileId: file_id } as const;
      return { id: ++this.#lastId, chat_id, name, size, sent: size, state, preview: undefined };
    });
    this.items.value = [...items, ...this.items.value];
  }

  of(chatId: number): readonly Upload[] {
    return this.items.value.filter(({ chat_id }) => chat_id === chatId);
  }

  /** Starts to upload files, in their order. */
  add(chatId: number, files: readonly File[]): void {
    const added = files.map((blob): Upload => {
      const id = ++this.#lastId;
      this.#sources.set(id, { blob, stopping: new AbortController() });
      return {
        id,
        chat_id: chatId,
        name: cleanName(blob.name),
        size: blob.size,
        sent: 0,
        state: blob.size === 0 ? failure('This file is empty.') : { name: 'waiting' },
        preview: previewOf(blob),
      };
    });
    this.items.value = [...this.items.value, ...added];
    this.#startNext();
  }

  /** Stops an upload, or removes a finished one. */
  remove(id: number): void {
    const item = this.items.value.find((one) => one.id === id);
    if (!item) return;
    this.#sources.get(id)?.stopping.abort();
    this.#drop([item]);
    if (item.state.name === 'done') this.#forget(item.state.fileId);
    this.#startNext();
  }

  /** Resumes an upload that has failed. */
  retry(id: number): void {
    this.#change(id, (item) => (item.state.name === 'failed' ? { state: { name: 'waiting' } } : {}));
    this.#startNext();
  }

  /** The connection is back: resumes the uploads that failed without it. */
  wake(): void {
    for (const { id, state } of this.items.value) if (state.name === 'failed' && state.isTransient) this.retry(id);
  }

  /** Returns the uploaded files of a chat, and shows them no longer. The outbox deletes them with its own write. */
  take(chatId: number): readonly AttachedFile[] {
    const taken = this.of(chatId).flatMap((item) =>
      item.state.name === 'done' ? [{ item, file: attached(item, item.state.fileId) }] : [],
    );
    this.#drop(taken.map(({ item }) => item));
    return taken.map(({ file }) => file);
  }

  stop(): void {
    for (const { stopping } of this.#sources.values()) stopping.abort();
  }

  #forget(fileId: number): void {
    const { db, onError } = this.#deps;
    transact(db, ['uploads'], 'readwrite', (store) => result(store('uploads').delete(fileId))).catch(onError);
  }

  #drop(items: readonly Upload[]): void {
    this.items.value = this.items.value.filter((one) => !items.some(({ id }) => id === one.id));
    for (const { id, preview } of items) {
      this.#sources.delete(id);
      if (preview !== undefined) URL.revokeObjectURL(preview);
    }
  }

  #change(id: number, change: (item: Upload) => Partial<Upload>): void {
    this.items.value = this.items.value.map((item) => (item.id === id ? { ...item, ...change(item) } : item));
  }

  #startNext(): void {
    const running = this.items.value.filter(({ state }) => state.name === 'uploading').length;
    const next = this.items.value.filter(({ state }) => state.name === 'waiting').slice(0, maxConcurrent - running);
    for (const item of next) {
      const source = this.#sources.get(item.id);
      if (!source) continue;
      this.#change(item.id, () => ({ state: { name: 'uploading' } }));
      void this.#upload(item, source).finally(() => this.#startNext());
    }
  }

  async #upload(item: Upload, source: Source): Promise<void> {
    const { client, onError, retries } = this.#deps;
    const { id, size } = item;
    try {
      const { file_id } = await uploadFile(client, source.blob, {
        name: item.name,
        uploadId: source.uploadId,
        onStart: (uploadId) => {
          source.uploadId = uploadId;
        },
        onProgress: ({ sent }) => this.#change(id, () => ({ sent })),
        pieceBytes: Math.min(Math.max(Math.ceil(size / pieces), minPieceBytes), maxPieceBytes),
        retries,
        signal: source.stopping.signal,
      });
      if (source.stopping.signal.aborted) return;
      await this.#store(item, file_id);
      this.#change(id, () => ({ sent: size, state: { name: 'done', fileId: file_id } }));
    } catch (error) {
      if (source.stopping.signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) onError(error);
      const isTransient = error instanceof TransportError;
      const problem = isTransient ? 'The connection was lost.' : (error as Error).message;
      this.#change(id, () => ({ state: failure(problem, isTransient) }));
    }
  }

  async #store(item: Upload, fileId: number): Promise<void> {
    const { db, now } = this.#deps;
    const row: StoredFile = { ...attached(item, fileId), chat_id: item.chat_id, uploaded_at: now() };
    await transact(db, ['uploads'], 'readwrite', (store) => result(store('uploads').put(row)));
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
  if (visible === '' || visible === '.' || visible === '..') return 'file';
  const extension = /\.[^.]{1,16}$/.exec(visible)?.[0] ?? '';
  const bytesOf = (text: string) => new TextEncoder().encode(text).length;
  const stem = [...visible.slice(0, visible.length - extension.length)];
  while (stem.length > 0 && bytesOf(stem.join('')) + bytesOf(extension) > maxNameBytes) stem.pop();
  return `${stem.join('')}${extension}`;
}

const failure = (problem: string, isTransient = false): UploadState => ({ name: 'failed', problem, isTransient });

const previewOf = (blob: Blob): string | undefined =>
  /^image\/(?:png|jpeg|gif|webp|bmp)$/.test(blob.type) && blob.size <= maxPreviewBytes
    ? URL.createObjectURL(blob)
    : undefined;
