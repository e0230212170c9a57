import { OAuthFault, quoted } from './faults.ts';
import type { Parameters } from './parameters.ts';

/** Only codes are supported, and only in the query: a token must not appear in a URL. */
export function requireCode(params: Parameters): void {
  const type = params.get('response_type');
  if (type === undefined) throw new OAuthFault('invalid_request', 'response_type is missing. It must be code.');
  if (type !== 'code') {
    throw new OAuthFault('unsupported_response_type', `response_type must be code, not ${quoted(type)}.`);
  }
  if ((params.get('response_mode') ?? 'query') !== 'query') {
    throw new OAuthFault('invalid_request', 'response_mode must be query.');
  }
}
