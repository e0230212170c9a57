import { expect, test } from 'bun:test';
import { isEventStream, isFile, listOperations, type NamedOperation } from '@parley/contract';
import { buildHandlers } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { Client } from './support/client.ts';
import { freshEnvironment, onAnyEngine } from './support/engines.ts';
import { startServer } from './support/server.ts';
import { buildWorld, withoutChance } from './support/world.ts';

const rows = listOperations();

test('every row of the contract has a handler, and every handler a row', () => {
  const handlers = buildHandlers({ engine: {} } as Services);
  expect(Object.keys(handlers).sort()).toEqual(rows.map((row) => row.name).sort());
});

onAnyEngine('the documented examples', (engine) => {
  for (const row of rows) {
    test(`${row.name} answers as documented`, async () => {
      const server = await startServer(await freshEnvironment(engine));
      try {
        const { ada } = await buildWorld(server);
        if (row.name === 'messages.search_messages') await untilSearchable(ada);
        if (isFile(row.output)) return await expectBytes(ada, row);
        if (isEventStream(row.output)) return await expectFrames(ada, row);
        const answer = await ada.call(row.name, row.example.input as never);
        expect(answer.status).toBe(200);
        expect(row.output.safeParse(answer.body).error).toBeUndefined();
        expect(withoutChance(answer.body)).toEqual(withoutChance({ success: true, ...(row.example.output as object) }));
      } finally {
        await server.stop();
      }
    });
  }
});

async function expectBytes(client: Client, row: NamedOperation): Promise<void> {
  const query = new URLSearchParams({ action: row.action, ...(row.example.input as object) });
  const headers = { authorization: `Bearer ${client.token}` };
  const response = await fetch(`${client.url}/api/${row.resource}.php?${query}`, { headers });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(await (row.example.output as File).text());
}

/** The example stands in the stream, whatever comes before and after it. */
async function expectFrames(client: Client, row: NamedOperation): Promise<void> {
  const query = new URLSearchParams({ action: row.action, ...(row.example.input as object) });
  const headers = { authorization: `Bearer ${client.token}` };
  const response = await fetch(`${client.url}/api/${row.resource}.php?${query}`, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const timeless = (text: string) => text.replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""');
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (timeless(text).includes(timeless(String(row.example.output)))) return;
  }
  throw new Error(`the stream ended without the example: ${text}`);
}

async function untilSearchable(client: Client): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { messages } = await client.ok('messages.search_messages', { query: 'launch' });
    if (messages.length > 0) return;
    await Bun.sleep(20);
  }
  throw new Error('the message could not be found after two seconds');
}
