import type { Message } from '@parley/contract';
import { allTextsOf } from '../store/chat/messages.ts';
import { threadsWith } from '../store/chat/threads.ts';
import type { Handlers, Services } from './operation.ts';
import * as present from './present.ts';

export const threadHandlers = ({ engine, files }: Services) =>
  ({
    'messages.threads': async ({ caller: { userId }, input: { limit, before_id } }) => {
      const found = await threadsWith(engine, userId, before_id ?? Number.MAX_SAFE_INTEGER, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      const texts = await allTextsOf(
        engine,
        rows.map(({ thread_id }) => thread_id),
      );
      const { messages } = await present.renderMessages(engine, texts, userId, files.url);
      const roots = new Map((JSON.parse(messages) as Message[]).map((root) => [root.message_id, root]));
      return { threads: rows.map((row) => present.thread(row, roots.get(row.thread_id) as Message)), has_more };
    },
  }) satisfies Partial<Handlers>;
