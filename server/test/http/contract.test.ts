import { beforeAll, describe, expect, test } from 'bun:test';
import {
  eventExamples,
  eventNames,
  eventTable,
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
} from '@parley/contract';
import { buildHandlers } from '../../operations/index.ts';
import type { Services } from '../../operations/operation.ts';
import { type Client, type UrlForm, urlFormNames } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { buildExamples, callerOf, exampleServers, type People, withoutChance } from '../support/examples.ts';
import { serverFor } from '../support/server.ts';

const rows = listOperations();

test('every row of the contract has a handler, and every handler a row', () => {
  const handlers = buildHandlers({ engine: {} } as Services);
  expect(Object.keys(handlers).sort()).toEqual(rows.map((row) => row.name).sort());
});

/** The clock stands still, so that no webhook is tried a second time however long the tests take. */
const runtime = { now: () => Date.UTC(2026, 0, 1) };

/** The rows of a method, in these forms of their URL. */
const inForms = (method: NamedOperation['method'], forms: readonly UrlForm[]) =>
  forms.flatMap((form) => rows.filter((row) => row.method === method).map((row) => [row.name, form, row] as const));

test.each([...eventNames])('the example of %s has all fields of the event, and no others', (name) => {
  const { data } = eventTable[name];
  expect(data.strict().parse(eventExamples[name])).toEqual(eventExamples[name] as never);
});

onAnyEngine('the documented examples', (engine) => {
  describe('that change nothing', () => {
    const server = serverFor(engine, {}, runtime);
    let people: People;
    beforeAll(async () => {
      people = await buildExamples(server());
    });

    test.each(inForms('GET', urlFormNames))('%s answers as documented, as %s', (_, form, row) =>
      expectExample(people, form, row),
    );
  });

  describe('that change something', () => {
    // Each needs a server of its own, so each form is tried on one engine.
    const form = urlFormNames.filter((_, i) => (i === 0) === (engine === 'sqlite'));
    const start = exampleServers(engine, runtime);
    test.each(inForms('POST', form))('%s answers as documented, as %s', async (_, form, row) => {
      const { server, people } = await start();
      try {
        await expectExample(people, form, row);
      } finally {
        await server.stop();
      }
    });
  });
});

async function expectExample(people: People, form: UrlForm, row: NamedOperation): Promise<void> {
  const ada = callerOf(row, people).with(form);
  if (row.name === 'messages.search_messages') await untilSearchable(ada);
  if (isFile(row.output)) return expectBytes(ada, row);
  if (isEventStream(row.output)) return expectFrames(ada, row);
  const answer = await ada.call(row.name, row.example.input as never);
  expect(answer.status).toBe(200);
  expect(row.output.safeParse(answer.body).error).toBeUndefined();
  expect(withoutChance(answer.body)).toEqual(withoutChance({ success: true, ...(row.example.output as object) }));
}

async function expectBytes(client: Client, row: NamedOperation): Promise<void> {
  const headers = { authorization: `Bearer ${client.token}` };
  const response = await fetch(client.urlOf(row, row.example.input as object), { headers });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(await (row.example.output as File).text());
}

/** The example stands in the stream, whatever comes before and after it. */
async function expectFrames(client: Client, row: NamedOperation): Promise<void> {
  const headers = { authorization: `Bearer ${client.token}` };
  const response = await fetch(client.urlOf(row, row.example.input as object), { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const timeless = (text: string) => text.replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""');
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (timeless(text).includes(timeless(String(row.example.output)))) return;
  }
  throw new Error(`the stream ended without the example: ${text}`);
}

const untilSearchable = (client: Client) =>
  eventually('the message is found', async () => {
    const { messages } = await client.ok('messages.search_messages', { query: 'launch' });
    return messages.length > 0 || undefined;
  });
