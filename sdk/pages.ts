import type { CallOptions } from './methods.ts';

/** How an operation returns its rows in pages. */
export interface Paging {
  /** The field of the output that has the rows. */
  readonly items: string;
  /** The field of the input that takes the cursor. */
  readonly cursor: string;
  /** The field of the last row that is the next cursor. Without it, `next` of the page is. */
  readonly id?: string;
  /** The field of the input that takes `next` of the page instead, if it is a text. */
  readonly next?: string;
  /** The cursor of the first page. By default the server chooses. */
  readonly start?: number;
}

/** The operations that return pages. */
export const pages = {
  'messages.get_messages': { items: 'messages', cursor: 'after_id', id: 'message_id', start: 0 },
  'messages.search_messages': { items: 'messages', cursor: 'before_id', id: 'message_id' },
  'messages.mentions': { items: 'messages', cursor: 'before_id', id: 'message_id' },
  'messages.threads': { items: 'threads', cursor: 'before_id', id: 'last_reply_id' },
  'messages.reactions': { items: 'users', cursor: 'after_id', id: 'user_id' },
  'chats.list': { items: 'chats', cursor: 'after_id', id: 'chat_id', next: 'after' },
  'chats.participants': { items: 'participants', cursor: 'after_id', id: 'user_id' },
  'users.search': { items: 'users', cursor: 'after_id', id: 'user_id' },
  'users.list': { items: 'users', cursor: 'after_id', id: 'user_id' },
  'service.chats': { items: 'chats', cursor: 'before_id', id: 'chat_id' },
  'service.use': { items: 'people', cursor: 'after', next: 'after' },
  'service.audit': { items: 'entries', cursor: 'before_id', id: 'audit_id' },
  'webhooks.list': { items: 'webhooks', cursor: 'after_id', id: 'webhook_id' },
  'webhooks.health': { items: 'webhooks', cursor: 'after_id', id: 'webhook_id' },
  'webhooks.deliveries': { items: 'deliveries', cursor: 'before_id' },
  'webhooks.replays': { items: 'replays', cursor: 'before_id', id: 'replay_id' },
  'events.list': { items: 'events', cursor: 'after' },
} as const satisfies Readonly<Record<string, Paging>>;

type CallPage = (input: object, options?: CallOptions) => Promise<object>;

/** Returns the rows of all pages, and loads each page when it is needed. */
export async function* iteratePages(
  { items, cursor, id, next: nextField, start }: Paging,
  call: CallPage,
  input: object = {},
  options?: CallOptions,
): AsyncGenerator<object, void, undefined> {
  const given = (input as Readonly<Record<string, unknown>>)[cursor];
  for (let next: object = { ...input, [cursor]: given ?? start }; ; ) {
    const page = (await call(next, options)) as Readonly<Record<string, unknown>>;
    const rows = page[items] as readonly Readonly<Record<string, unknown>>[];
    yield* rows;
    if (nextField !== undefined && typeof page.next === 'string') {
      next = { ...next, [nextField]: page.next };
      continue;
    }
    const reached = id === undefined ? page.next : rows.at(-1)?.[id];
    if (page.has_more !== true || typeof reached !== 'number') return;
    next = { ...next, [cursor]: reached };
  }
}
