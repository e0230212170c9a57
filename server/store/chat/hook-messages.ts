import type { HookId } from '@parley/contract';
import { bulkStatement, type Procedure, type Tx } from '../engine/engine.ts';
import { type NewMessage, outcomeLines, type SendInput, type SendOutcome, sendMessages } from './send.ts';

/** A message that came through an incoming webhook. */
export interface HookMessage extends NewMessage {
  readonly hook_id: HookId;
}

/** `revoked`: the hook was revoked after it was read, while the body of the post still arrived. */
export type HookOutcome = SendOutcome | { readonly refused: 'revoked' };

/** Like `sendMessages`, which must not pay for the look at the hooks. */
export const sendHookMessages: Procedure<SendInput<HookMessage>, HookOutcome> = {
  name: 'sendHookMessages',
  run: async (tx, { messages, fileUrl }, now) => {
    const hooks = await findHooks(tx, messages);
    const allowed = messages.filter(({ hook_id }) => hooks.has(hook_id));
    const outcomes: HookOutcome[] = await sendMessages.run(tx, { messages: allowed, fileUrl }, now);
    return messages.map(({ hook_id }) => (hooks.has(hook_id) && outcomes.shift()) || { refused: 'revoked' });
  },
  lines: outcomeLines,
};

const hookQuery = bulkStatement(
  { hook_id: 'int' },
  (source) => `SELECT s.hook_id FROM ${source} AS s JOIN hooks h ON h.hook_id = s.hook_id`,
);

/** Returns the hooks of the messages that still exist. A disabled bot or creator has none. */
async function findHooks(tx: Tx, messages: readonly HookMessage[]): Promise<ReadonlySet<HookId>> {
  const ids = [...new Set(messages.map(({ hook_id }) => hook_id))];
  const rows = await tx.bulk<{ hook_id: HookId }>(
    hookQuery,
    ids.map((id) => [id]),
  );
  return new Set(rows.map(({ hook_id }) => hook_id));
}
