import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { eventually, hangMs } from './eventually.ts';
import type { TestServer } from './server.ts';
import { type Reply, request } from './wire.ts';

export const sending = 'messages.php?action=send_message';
export const uploading = 'files.php?action=upload';

/** The rows and the stored files of a server. */
export interface Kept {
  readonly rows: number;
  readonly blobs: number;
}

export async function kept({ engine, env }: TestServer): Promise<Kept> {
  const row = await engine.get<{ total: number }>('SELECT count(*) AS total FROM files');
  return { rows: row?.total ?? 0, blobs: blobsIn(env.PARLEY_DATA ?? '') };
}

/** Waits for the expected rows and files. An interrupted upload is removed after its connection has closed. */
export async function keeps(server: TestServer, expected: Kept): Promise<void> {
  let last: Kept = expected;
  await eventually('the expected files are stored', async () => {
    last = await kept(server);
    return (last.rows === expected.rows && last.blobs === expected.blobs) || undefined;
  }).catch(() => {
    throw new Error(`${JSON.stringify(last)} is kept in place of ${JSON.stringify(expected)}`);
  });
}

export const nothing: Kept = { rows: 0, blobs: 0 };

/** Waits until an upload has started that is not complete. */
export const underWay = (server: TestServer): Promise<unknown> =>
  eventually('an upload has started', async () => {
    const row = await server.engine.get('SELECT 1 AS found FROM files WHERE sha256 IS NULL');
    const { rows, blobs } = await kept(server);
    return (row && blobs === rows) || undefined;
  });

function blobsIn(folder: string): number {
  const found = readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).length;
}

export const sha256 = (bytes: string | Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex');

/** Returns bytes of no known file type, the same for the same seed. */
export function someBytes(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let i = 0, x = seed; i < size; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

/** Returns one part of a multipart form as sent after its delimiter. */
export type Part = string | Uint8Array;

export const formType = 'multipart/form-data; boundary=frontier';

export const textPart = (name: string, value: string | number): Part =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;

export const filePart = (bytes: string | Uint8Array, filename = 'file.bin', name = 'file'): Part =>
  partOf(`Content-Disposition: form-data; name="${name}"; filename="${filename}"`, bytes);

export const partOf = (head: string, bytes: string | Uint8Array): Part =>
  Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(bytes)]);

/** Returns the start of a form whose last part is still open. */
export const openForm = (...parts: Part[]): Buffer<ArrayBuffer> =>
  Buffer.concat(parts.flatMap((part, i) => [Buffer.from(`${i > 0 ? '\r\n' : ''}--frontier\r\n`), Buffer.from(part)]));

export const formEnd = '\r\n--frontier--\r\n';

export const formWith = (...parts: Part[]): Buffer<ArrayBuffer> =>
  Buffer.concat([openForm(...parts), Buffer.from(formEnd)]);

/** Returns the path of a raw upload, which has the name in its query. */
const addressOf = (path: string, contentType: string): string =>
  path === uploading && !contentType.startsWith('multipart/') ? `${path}&name=file.bin` : path;

/** Sends a POST with these bytes. Rejects if there is no response. */
export function post(
  by: Client,
  path: string,
  body: BodyInit,
  contentType = formType,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return request(`${by.url}/api/${addressOf(path, contentType)}`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(hangMs),
    headers: { authorization: `Bearer ${by.token}`, 'content-type': contentType, ...headers },
  });
}

/** Returns the head of a POST for a `Connection`. */
export function headOf(by: Client, path: string, length: number | 'chunked', contentType = formType): string {
  return [
    `POST /api/${addressOf(path, contentType)} HTTP/1.1`,
    `Host: ${new URL(by.url).host}`,
    `Authorization: Bearer ${by.token}`,
    `Content-Type: ${contentType}`,
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

export const chunk = (bytes: string | Uint8Array): Buffer<ArrayBuffer> => {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
};

export const lastChunk = '0\r\n\r\n';

/** A raw connection to a server, under the control of the test. */
export class Connection {
  #socket: Bun.Socket | undefined;
  #received = '';
  #ended = false;
  #changed = Promise.withResolvers<void>();

  static async to(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const connection = new Connection();
    connection.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, part) => {
          connection.#received += part.toString('latin1');
          connection.#tell();
        },
        drain: () => connection.#tell(),
        close: () => {
          connection.#ended = true;
          connection.#tell();
        },
        error: () => {},
      },
    });
    return connection;
  }

  /** Stops when the server closes the connection. */
  async write(bytes: string | Uint8Array): Promise<void> {
    for (let rest = Buffer.from(bytes); rest.length > 0 && !this.#ended; ) {
      const changed = this.#changed.promise;
      rest = rest.subarray(Math.max(0, this.#socket?.write(rest) ?? 0));
      if (rest.length > 0) await changed;
    }
  }

  /** Resolves with the first complete response. */
  async answer(): Promise<Reply> {
    for (;;) {
      const changed = this.#changed.promise;
      const reply = parseReply(this.#received);
      if (reply) return reply;
      if (this.#ended) throw new Error(`the server hung up after: ${this.#received}`);
      await changed;
    }
  }

  get isAnswered(): boolean {
    return parseReply(this.#received) !== undefined;
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#ended) await this.#changed.promise;
  }

  hangUp(): void {
    this.#socket?.terminate();
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function parseReply(received: string): Reply | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const body = received.slice(end + 4);
  if (body.length < Number(headers.get('content-length'))) return undefined;
  const status = Number(start.split(' ')[1]);
  // The runtime rejects some requests with an empty response.
  return { status, headers, body: JSON.parse(Buffer.from(body || '{}', 'latin1').toString()) as Reply['body'] };
}
