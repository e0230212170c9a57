import { exampleCalls, listOperations, type NamedOperation, type OperationName } from '@parley/contract';
import type { Runtime } from '../../compose.ts';
import type { Client, SessionClient } from './client.ts';
import { copiedEnvironment, type EngineName, type Environment, freshEnvironment } from './engines.ts';
import { eventually } from './eventually.ts';
import { startServer, type TestServer } from './server.ts';
import { inSession } from './visitor.ts';

type Name = 'ada' | 'bob' | 'cleo';
/** `browser` is the session of Ada. */
export type People = Readonly<Record<Name, Client>> & { readonly browser: SessionClient };

/** Creates the users, chats and messages that the documented examples refer to. */
export async function buildExamples(server: TestServer): Promise<People> {
  const people = {
    ada: await server.user('ada', { admin: true, displayName: 'Ada' }),
    bob: await server.user('bob', { displayName: 'Bob' }),
    cleo: await server.user('cleo', { displayName: 'Cleo' }),
  };
  // Its session takes an id of those of tokens, so it comes when the first call needs it.
  let browser: SessionClient | undefined;
  for (const { by, call, input } of exampleCalls) {
    if (call === 'webhooks.replay') await untilTried(people.ada);
    if (isInBrowser(call)) browser ??= await inSession(server, people.ada);
    await (isInBrowser(call) && browser ? browser : people[by]).ok(call, input as never);
  }
  if (!browser) throw new Error('no example is a call of a page');
  return { ...people, browser };
}

/** Starts servers with the examples, each on a copy of what the first call builds. To build them takes several times as long. */
export function exampleServers(engine: EngineName, runtime: Partial<Runtime>) {
  let built: Promise<{ readonly env: Environment; readonly people: People }> | undefined;
  const build = async () => {
    const env = await freshEnvironment(engine);
    const server = await startServer(env, runtime);
    const people = await buildExamples(server);
    await server.stop();
    return { env, people };
  };
  return async (): Promise<{ readonly server: TestServer; readonly people: People }> => {
    built ??= build();
    const { env, people } = await built;
    const server = await startServer(await copiedEnvironment(env), runtime);
    const { ada, bob, cleo, browser } = people;
    const { url } = server;
    return { server, people: { ada: ada.at(url), bob: bob.at(url), cleo: cleo.at(url), browser: browser.at(url) } };
  };
}

const isInBrowser = (name: OperationName): boolean =>
  listOperations().some((row) => row.name === name && row.inBrowser === true);

/** Returns the one who calls an operation in its example. */
export const callerOf = ({ inBrowser }: Pick<NamedOperation, 'inBrowser'>, { ada, browser }: People): Client =>
  inBrowser ? browser : ada;

/** Waits until the first delivery has failed. Until then a replay would run. */
const untilTried = (owner: Client) =>
  eventually('the webhook has an attempt', async () => {
    const { deliveries } = await owner.ok('webhooks.deliveries', { webhook_id: 1, state: 'retrying' });
    return deliveries.length > 0 || undefined;
  });

/** Replaces times, durations and tokens, which differ each time. */
export function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    // Names such as app_id end there; a token may begin with the same letters.
    .replace(/(?:pat|acs|app|hook)_(?!ids?")[\w-]+/g, 'TOKEN')
    .replace(/(invitation\/)[\w-]+/g, '$1SECRET')
    .replace(/"public_key":"[\w-]{87}"/g, '"public_key":"KEY"')
    // The use of a token is recorded some seconds later.
    .replace(/"last_used_at":"TIME"/g, '"last_used_at":null')
    // Messages are counted some seconds later.
    .replace(/"messages":\d+,"chats"/g, '"messages":"SOME","chats"')
    .replace(/"((?:disk_free|disk_total|database)_bytes)":\d+/g, '"$1":"SOME"')
    .replace(/"version":"[\d.]+","started_at"/g, '"version":"SOME","started_at"')
    .replace(/"database":"(?:sqlite|postgres)"/g, '"database":"SOME"')
    .replace(/"(duration_ms|oldest_undelivered_age)":\d+/g, '"$1":"SOME"')
    .replace(/(127\.0\.0\.1):\d+(\/(?:api|m|invitation|hooks)\/)/g, '$1:PORT$2')
    .replace(/expires=\d+&signature=[\w-]{43}/g, 'LINK')
    .replace(/"signed_content":"(\d+)\.\d+\./g, '"signed_content":"$1.SECONDS.')
    .replace(/Parley-Webhooks\/[\d.]+/g, 'Parley-Webhooks/SOME')
    .replace(/"webhook-timestamp":"\d+"/g, '"webhook-timestamp":"SECONDS"')
    .replace(/"sha256=[0-9a-f]{64}"/g, '"sha256=HEX"')
    .replace(/"v1,[A-Za-z0-9+/]{43}="/g, '"v1,BASE64"');
  return JSON.parse(text);
}
