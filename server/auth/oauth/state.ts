import { OAuthFault } from './faults.ts';
import type { ReadParameters } from './parameters.ts';

/** What the app is to be given back as it was; undefined where there is none, or none that can be given back. */
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
