import type { LoggedEvent } from '@parley/contract';
import type { Client } from './client.ts';
import type { TestServer } from './server.ts';

let made = 0;

/** Creates users with unique names. */
export async function users<N extends string>(server: TestServer, ...names: N[]): Promise<Record<N, Client>> {
  const suffix = ++made;
  const found: [string, Client][] = [];
  for (const name of names) found.push([name, await server.user(`${name}${suffix}`)]);
  return Object.fromEntries(found) as Record<N, Client>;
}

type Filter = { chat_id?: number };

/** Returns all events that a user sees after a cursor. */
export async function eventsAfter(client: Client, after: number, filter: Filter = {}): Promise<LoggedEvent[]> {
  const seen: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const page = await client.ok('events.list', { after: cursor, limit: 200, ...filter });
    seen.push(...(page.events as LoggedEvent[]));
    if (!page.has_more) return seen;
    cursor = page.next;
  }
}

/** Returns the cursor at the end of the log. */
export async function eventTip(client: Client): Promise<number> {
  for (let after = 0; ; ) {
    const page = await client.ok('events.list', { after, limit: 200 });
    if (!page.has_more) return page.next;
    after = page.next;
  }
}
