import { eventNames, signalNames, type Warning } from '@parley/contract';
import { nearest } from '../lib/nearest.ts';

const known: ReadonlySet<string> = new Set(['*', ...eventNames]);
const signals: ReadonlySet<string> = new Set(signalNames);

/** Returns the names that Parley has no event for. */
export const unknownEvents = (names: readonly string[]): string[] => names.filter((name) => !known.has(name));

/** Returns what is wrong with an unknown name, as the rest of a sentence that starts with the name. */
function unknownEventFault(name: string): string {
  if (signals.has(name)) return 'is a signal: only live streams receive it';
  // Others write newMessage, message.edited or MESSAGE_EDITED.
  const written = name.replace(/(?<=[a-z])(?=[A-Z])|[.:-]/g, '_').toLowerCase();
  const meant = nearest(written, eventNames);
  return `is not an event of this version, so it is never sent${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** Shorter secrets are likely to be words, which can be guessed from one delivery. */
const secretCharacters = 16;

const isShortSecret = (secret: string): boolean => [...secret].length < secretCharacters;

interface Input {
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
}

/** Returns what is accepted and probably a mistake. A repeated name gets one warning, where it is first. */
export function webhookWarnings({ events = [], secret }: Input): Warning[] {
  const warnings = unknownEvents([...new Set(events)]).map((name) => ({
    field: `events[${events.indexOf(name)}]`,
    message: `${name} ${unknownEventFault(name)}`,
  }));
  if (secret !== undefined && isShortSecret(secret)) {
    const message = `has fewer than ${secretCharacters} characters and may be guessed; use a long random value`;
    warnings.push({ field: 'secret', message });
  }
  return warnings;
}
