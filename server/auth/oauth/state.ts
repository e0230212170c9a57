import { OAuthFault } from './faults.ts';
import type { ReadParameters } from './parameters.ts';

/** Returns the state to send back, or undefined if it is absent or invalid. */
export function stateIn({ values, repeated }: ReadParameters): string | undefined {
  const state = values.get('state');
  return state !== undefined && !repeated.has('state') && isPrintable(state) ? state : undefined;
}

export function requirePrintableState({ values }: ReadParameters): void {
  if (!isPrintable(values.get('state') ?? '')) {
    throw new OAuthFault('invalid_request', 'state must not contain control characters.');
  }
}

const isPrintable = (text: string): boolean => !/\p{Cc}/u.test(text);
