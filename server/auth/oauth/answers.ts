import type { OAuthFault } from './faults.ts';

/** What an endpoint of OAuth answers, whatever carries it. */
export interface OAuthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Tokens are for nobody to keep on the way (RFC 6749, 5.1). */
const unkept = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

export const answer = (body: object): OAuthAnswer => ({ status: 200, headers: unkept, body });

export const refusal = ({ status, headers, error, description }: OAuthFault): OAuthAnswer => ({
  status,
  headers: { ...unkept, ...headers },
  body: { error, error_description: description },
});
