import type { Client } from '../../server/test/support/client.ts';
import { pause } from '../harness/wait.ts';
import type { Calls } from './calls.ts';
import type { PageEvidence } from './evidence.ts';

/** The delay between two requests at the end of the chat. */
const idleMs = 100;

/** A user reads a chat page by page from its first message, and keeps asking for new ones. */
export function makePager(calls: Calls, user: Client, chat_id: number) {
  const ids: number[] = [];
  const evidence: PageEvidence = { chat_id, ids };
  /** Returns whether there are more pages. */
  const readPage = async (end: AbortSignal): Promise<boolean> => {
    const input = { chat_id, after_id: ids.at(-1) ?? 0, limit: 50 };
    const page = await calls.insist(user, 'messages.get_messages', input, end);
    ids.push(...(page?.messages ?? []).map(({ message_id }) => message_id));
    return page?.has_more ?? false;
  };
  return {
    evidence,
    run: async (end: AbortSignal): Promise<void> => {
      try {
        while (!end.aborted) if (!(await readPage(end))) await pause(idleMs, end);
      } catch (error) {
        if (!end.aborted) throw error;
      }
    },
    /** Reads up to the last message that there is. */
    finish: async (end: AbortSignal): Promise<void> => {
      while (await readPage(end));
    },
  };
}
