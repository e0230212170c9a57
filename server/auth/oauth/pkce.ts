import { OAuthFault } from './faults.ts';
import type { Parameters } from './parameters.ts';

/**
 * Returns the challenge of PKCE (RFC 7636). Every app must send one, because it also protects against injected codes. The
 * RFC's default method is `plain`, which does not protect against an attacker who reads the request.
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
