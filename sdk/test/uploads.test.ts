import { beforeAll, describe, expect, test } from 'bun:test';
import { sha256, someBytes } from '@parley/server/test/support/files.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { createClient } from '../index.ts';
import { maxUploadBytes, type UploadProgress, uploadFile } from '../uploads.ts';
import { TestClock } from './test-clock.ts';

const server = serverFor('sqlite', { PARLEY_FILE_LIMIT: '3000000' });
let token = '';
let chatId = 0;
beforeAll(async () => {
  const ada = await server().user('ada');
  token = ada.token;
  chatId = (await ada.ok('messages.create_group', { name: 'Files', participants: [] })).group.chat_id;
});

const bytes = someBytes(1_000_000);
const pieceBytes = 300_000;

type Fault = (request: { readonly method: string; readonly count: number }) => Response | 'drop' | undefined;

/** A client whose requests to the upload endpoint are recorded, and may meet a fault. */
function recording(fault: Fault = () => undefined) {
  const methods: string[] = [];
  const client = createClient({
    url: server().url,
    token,
    clock: new TestClock(),
    fetch: async (url, init) => {
      if (!url.includes('/api/uploads')) return fetch(url, init);
      const method = init.method ?? '';
      methods.push(method);
      const met = fault({ method, count: methods.filter((one) => one === method).length });
      if (met === 'drop') throw new TypeError('the connection broke');
      return met ?? fetch(url, init);
    },
  });
  return { client, methods };
}

describe('uploadFile', () => {
  test('sends a file in pieces, reports its progress, and returns what a message needs', async () => {
    const { client, methods } = recording();
    const progress: UploadProgress[] = [];
    const uploaded = await uploadFile(client, new File([bytes], 'דוח.bin'), {
      pieceBytes,
      onProgress: (now) => progress.push(now),
    });
    const { message } = await client.messages.send({ chat_id: chatId, ...uploaded });
    expect(message.file).toMatchObject({ name: 'דוח.bin', size: bytes.length, sha256: sha256(bytes) });
    expect(methods).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH', 'PATCH']);
    expect(progress.map(({ sent }) => sent)).toEqual([0, 300_000, 600_000, 900_000, 1_000_000]);
    expect(progress.every(({ total }) => total === bytes.length)).toBe(true);
  });

  test('resumes after a break where the server has got to', async () => {
    const { client, methods } = recording(({ method, count }) =>
      method === 'PATCH' && count === 3 ? 'drop' : undefined,
    );
    const { file_id } = await uploadFile(client, new Blob([bytes]), { pieceBytes, name: 'a.bin' });
    expect(methods).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH', 'HEAD', 'PATCH', 'PATCH']);
    expect(await (await client.files.download({ file_id })).bytes()).toEqual(bytes);
  });

  test('resumes an upload that another run began', async () => {
    const stopping = new AbortController();
    const first = recording();
    let uploadId = '';
    const reason = new Error('enough');
    const stopped = uploadFile(first.client, new Blob([bytes]), {
      pieceBytes,
      onStart: (id) => {
        uploadId = id;
      },
      onProgress: ({ sent }) => {
        if (sent >= 600_000) stopping.abort(reason);
      },
      signal: stopping.signal,
    });
    await expect(stopped).rejects.toBe(reason);
    const second = recording();
    const { file_id } = await uploadFile(second.client, new Blob([bytes]), { pieceBytes, uploadId });
    expect(second.methods).toEqual(['HEAD', 'PATCH', 'PATCH']);
    expect(await (await second.client.files.download({ file_id })).bytes()).toEqual(bytes);
  });

  test('starts again if the server no longer has the upload', async () => {
    const { client, methods } = recording();
    const { file_id } = await uploadFile(client, new Blob([bytes]), { uploadId: 'no-such-upload' });
    expect(methods).toEqual(['HEAD', 'POST', 'PATCH']);
    expect(file_id).toBeGreaterThan(0);
  });

  test('gives up after a number of failures without progress', async () => {
    const { client, methods } = recording(({ method }) => (method === 'PATCH' ? 'drop' : undefined));
    const told: string[] = [];
    const failing = uploadFile(client, new Blob([bytes]), { retries: 2, onRetry: ({ name }) => told.push(name) });
    await expect(failing).rejects.toMatchObject({ name: 'TransportError' });
    expect(told).toEqual(['TransportError', 'TransportError']);
    expect(methods.filter((method) => method === 'PATCH')).toHaveLength(3);
  });

  test('does not repeat what the server refuses', async () => {
    const { client, methods } = recording();
    const refused = uploadFile(client, new Blob([someBytes(3_000_001)]));
    await expect(refused).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(methods).toEqual(['POST']);
    expect(await maxUploadBytes(client)).toBe(3_000_000);
  });
});
