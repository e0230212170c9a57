import { OAuthFault } from './faults.ts';
import type { Parameters } from './parameters.ts';

/**
 * The challenge that a code is bound to (RFC 7636). Asked of every app, with a secret or without: it also keeps a code
 * that somebody slipped into the app's session from being of use there. Without a method the RFC means `plain`, which
 * is no protection against whoever reads the request.
 */
export function challengeIn(params: Parameters): string {
  const challenge = params.get('code_challenge');
  if (challenge === undefined) {
    throw new OAuthFault('invalid_request', 'code_challenge is missing: every app must use PKCE with S256.');
  }
  if (params.get('code_challenge_method') !== 'S256') {
    throw new OAuthFault('invalid_request', 'code_challenge_method must be S256.');
  }
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new OAuthFault(
      'invalid_request',
      'code_challenge must be the SHA-256 of the verifier in base64url without padding: 43 characters.',
    );
  }
  return challenge;
}
