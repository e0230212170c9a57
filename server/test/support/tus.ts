import { connect, createServer, type Server, type Socket } from 'node:net';
import * as tusClient from 'tus-js-client';
import { DetailedError, Upload, type UploadOptions, type UrlStorage } from 'tus-js-client';
import type { Client } from './client.ts';
import type { Reply } from './wire.ts';

export const appendType = 'application/offset+octet-stream';

/** The URL of an upload, as in `Location`. */
export type Path = string;

type Headers = Readonly<Record<string, string | undefined>>;

/** Sends one tus request. An undefined header is left out. */
export async function ask(by: Client, method: string, path: Path, headers: Headers = {}, body?: BodyInit) {
  const all = { authorization: `Bearer ${by.token}`, 'tus-resumable': '1.0.0', ...headers };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const response = await fetch(`${by.url}${path}`, { method, headers: given, ...(body !== undefined && { body }) });
  const text = await response.text();
  const reply: Reply = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : JSON.parse(text),
  };
  return reply;
}

export const named = (name: string) => `filename ${Buffer.from(name).toString('base64')}`;

/** Creates an upload, which must succeed. */
export async function announce(by: Client, size: number, name = 'file.bin'): Promise<Path> {
  const headers = { 'upload-length': String(size), 'upload-metadata': named(name) };
  const { status, headers: answered, body } = await ask(by, 'POST', '/api/uploads', headers);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return answered.get('location') ?? '';
}

export const append = (by: Client, path: Path, offset: number, bytes: BodyInit, headers: Headers = {}) =>
  ask(by, 'PATCH', path, { 'upload-offset': String(offset), 'content-type': appendType, ...headers }, bytes);

/** Returns the offset of an upload, which must exist. */
export async function offsetOf(by: Client, path: Path): Promise<number> {
  const { status, headers } = await ask(by, 'HEAD', path);
  if (status !== 200) throw new Error(`HEAD ${path}: ${status}`);
  return Number(headers.get('upload-offset'));
}

export const fileIdIn = ({ headers }: Pick<Reply, 'headers'>): number => Number(headers.get('parley-file-id'));

export interface Uploaded {
  readonly fileId: number;
  readonly path: Path;
  /** The requests that were sent, such as `PATCH 0`, with the offset. */
  readonly requests: string[];
}

/** Uploads with tus-js-client. */
export function upload(by: Client, bytes: Uint8Array, options: Partial<UploadOptions> = {}): Promise<Uploaded> {
  const requests: string[] = [];
  let fileId = 0;
  return new Promise((resolve, reject) => {
    const running = new Upload(Buffer.from(bytes), {
      endpoint: `${by.url}/api/uploads`,
      headers: { authorization: `Bearer ${by.token}` },
      metadata: { filename: 'file.bin', unknown: 'of no interest' },
      retryDelays: null,
      onBeforeRequest: (request) => {
        requests.push(`${request.getMethod()} ${request.getHeader('Upload-Offset') ?? ''}`.trim());
      },
      onAfterResponse: (_, response) => {
        fileId = Number(response.getHeader('Parley-File-Id') ?? fileId);
      },
      onError: reject,
      onSuccess: () => resolve({ fileId, path: new URL(running.url ?? '').pathname, requests }),
      ...options,
    });
    void running.findPreviousUploads().then(([previous]) => {
      if (previous) running.resumeFromPreviousUpload(previous);
      running.start();
    }, reject);
  });
}

/** The file in which the client stores its uploads under Node and Bun. Its types know only browsers. */
export function fileStorage(file: string): UrlStorage {
  const { FileUrlStorage } = tusClient as unknown as { FileUrlStorage: new (file: string) => UrlStorage };
  return new FileUrlStorage(file);
}

/** Returns the status of the client's error. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof DetailedError ? error.originalResponse?.getStatus() : undefined;

export async function download(by: Client, fileId: number): Promise<Uint8Array> {
  const address = `${by.url}/api/files.php?action=download&file_id=${fileId}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${by.token}` } });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.bytes();
}

/** A PATCH whose bytes the test sends. */
export class SlowPatch {
  readonly #socket: Socket;
  /** Resolves with all that was received once the connection is closed. */
  readonly answer: Promise<string>;

  constructor(by: Client, path: Path, offset: number, announced: number) {
    const { hostname, port, host } = new URL(by.url);
    this.#socket = connect(Number(port), hostname);
    let received = '';
    this.#socket.on('data', (part) => {
      received += part.toString('latin1');
    });
    this.answer = new Promise((resolve) => {
      this.#socket.on('close', () => resolve(received)).on('error', () => {});
    });
    const head = [
      `PATCH ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${by.token}`,
      'Tus-Resumable: 1.0.0',
      `Upload-Offset: ${offset}`,
      `Content-Type: ${appendType}`,
      `Content-Length: ${announced}`,
      'Connection: close',
      '\r\n',
    ];
    this.#socket.write(head.join('\r\n'));
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  hangUp(): void {
    this.#socket.destroy();
  }
}

/** A TCP proxy that cuts connections after a number of uploaded bytes. */
export class Scissors {
  readonly #server: Server;
  readonly #after: number;
  readonly #ready: () => Promise<unknown>;
  #cutsLeft: number;

  private constructor(port: number, times: number, after: number, ready: () => Promise<unknown>) {
    this.#cutsLeft = times;
    this.#after = after;
    this.#ready = ready;
    this.#server = createServer((client) => this.#forward(client, port));
  }

  /** Cuts `times` connections, each after `after` bytes and once `ready` resolves. */
  static async before(url: string, times: number, after: number, ready: () => Promise<unknown>): Promise<Scissors> {
    const scissors = new Scissors(Number(new URL(url).port), times, after, ready);
    await new Promise<void>((resolve) => scissors.#server.listen(0, '127.0.0.1', resolve));
    return scissors;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('nothing is listened on');
    return `http://127.0.0.1:${address.port}`;
  }

  get cutsLeft(): number {
    return this.#cutsLeft;
  }

  stop(): void {
    this.#server.close();
  }

  #forward(client: Socket, port: number): void {
    const server = connect(port, '127.0.0.1');
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    server.pipe(client);
    let passed = 0;
    client.on('data', (bytes: Buffer) => {
      const room = this.#cutsLeft > 0 ? this.#after - passed : Number.POSITIVE_INFINITY;
      passed += bytes.length;
      const isTaken = server.write(bytes.subarray(0, room));
      if (bytes.length >= room) {
        this.#cutsLeft--;
        client.pause();
        void this.#ready().then(end, end);
      } else if (!isTaken) {
        client.pause();
        server.once('drain', () => client.resume());
      }
    });
  }
}
