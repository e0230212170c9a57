import type { Refusal } from '../outbox/refusal.ts';
import { text } from '../text/text.ts';

/** Fields of a call, and what a fault in them means. */
const faults: Readonly<Record<string, string>> = {
  content: text.message.refusals.tooLong,
  file_ids: text.message.refusals.fileGone,
  reply_to: text.message.refusals.replyGone,
};

const refusals: Readonly<Partial<Record<Refusal['code'], string>>> = {
  forbidden: text.message.refusals.notAllowed,
  not_found: text.message.refusals.removed,
  payload_too_large: text.message.refusals.tooLong,
  conflict: text.message.refusals.quota,
};

/** Returns why the server did not take a message, and what to do. */
export const refusalText = ({ code, field, message }: Refusal): string =>
  (code === 'validation_failed' ? faults[field ?? ''] : refusals[code]) ?? text.message.refusals.other(message);

/** Returns why messages wait that are sent later by themselves. */
export const delayText = ({ code, message }: Refusal): string =>
  code === 'rate_limited' ? text.message.delays.rate_limited : text.message.delays.other(message);
