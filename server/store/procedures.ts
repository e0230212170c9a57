import { sendHookMessages } from './chat/hook-messages.ts';
import { sendMessages } from './chat/send.ts';
import type { Procedure } from './engine/engine.ts';
import { indexEvents } from './search/index-events.ts';

/** The procedures that the writer thread of SQLite knows, by name. */
export const procedures: Readonly<Record<string, Procedure<never, unknown>>> = {
  [sendMessages.name]: sendMessages,
  [sendHookMessages.name]: sendHookMessages,
  [indexEvents.name]: indexEvents,
};
