import { exampleWorld, type LoggedEvent } from '@parley/contract';
import type { Client } from './client.ts';
import type { TestServer } from './server.ts';

export type People = Readonly<Record<'ada' | 'bob' | 'cleo', Client>>;

/** Makes the world that the documented examples happen in. */
export async function buildWorld(server: TestServer): Promise<People> {
  const people = {
    ada: await server.user('ada', { admin: true, displayName: 'Ada' }),
    bob: await server.user('bob', { displayName: 'Bob' }),
    cleo: await server.user('cleo', { displayName: 'Cleo' }),
  };
  for (const { by, call, input } of exampleWorld) await people[by].ok(call, input as never);
  await eventually('the webhook has been tried', async () => {
    const { deliveries } = await people.ada.ok('webhooks.deliveries', { webhook_id: 1, state: 'retrying' });
    return deliveries.length > 0 || undefined;
  });
  return people;
}

/** Times, durations and tokens differ each time; what is left must not. */
export function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/pat_[\w-]+/g, 'TOKEN')
    // A use of a token is noted some seconds later.
    .replace(/"last_used_at":"TIME"/g, '"last_used_at":null')
    .replace(/"(duration_ms|oldest_undelivered_age)":\d+/g, '"$1":"SOME"')
    .replace(/(127\.0\.0\.1):\d+(\/api\/)/g, '$1:PORT$2')
    .replace(/expires=\d+&signature=[\w-]{43}/g, 'LINK')
    .replace(/"signed_content":"(\d+)\.\d+\./g, '"signed_content":"$1.SECONDS.');
  return JSON.parse(text);
}

type Filter = { chat_id?: number };

/** All events that a user sees after a cursor. */
export async function eventsAfter(client: Client, after: number, filter: Filter = {}): Promise<LoggedEvent[]> {
  const seen: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const page = await client.ok('events.list', { after: cursor, limit: 200, ...filter });
    seen.push(...(page.events as LoggedEvent[]));
    if (!page.has_more) return seen;
    cursor = page.next;
  }
}

/** The cursor behind which only what happens from now on is found. */
export async function eventTip(client: Client): Promise<number> {
  for (let after = 0; ; ) {
    const page = await client.ok('events.list', { after, limit: 200 });
    if (!page.has_more) return page.next;
    after = page.next;
  }
}

/** Catches what hangs, and nothing else: a busy machine may take many times as long as an idle one. */
export const hangMs = 110_000;

/** Asks again until there is a result. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = performance.now() + hangMs; performance.now() < deadline; await Bun.sleep(15)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error(`waited in vain: ${what}`);
}

let made = 0;

/** New users for one test, whose names no other test of the server uses. */
export async function users<N extends string>(server: TestServer, ...names: N[]): Promise<Record<N, Client>> {
  const suffix = ++made;
  const found: [string, Client][] = [];
  for (const name of names) found.push([name, await server.user(`${name}${suffix}`)]);
  return Object.fromEntries(found) as Record<N, Client>;
}
