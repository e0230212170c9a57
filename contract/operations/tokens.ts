import { z } from 'zod';
import { title, tokenId } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { token, tokenUse } from '../records.ts';
import { scopeNames } from '../scopes.ts';

const at = '2026-01-01T12:00:00.000Z';
export const reader = {
  token_id: 7,
  name: 'reader',
  scopes: ['messages:read' as const, 'chats:read' as const],
  created_at: at,
  expires_at: null,
  last_used_at: null,
};
const spare = { ...reader, token_id: 4, name: 'spare', scopes: ['messages:read' as const] };

export const tokenName = title.meta({ description: 'distinguishes it from others' });

export const lifetime = z
  .int()
  .positive()
  .max(315_360_000)
  .optional()
  .meta({ description: 'seconds; never by default' });

export const madeToken = z.object({ token, access_token: z.string().meta({ description: 'the token itself' }) });

export const tokens = (_limits: Limits) => ({
  list: get([], {
    summary: 'List your access tokens. The tokens themselves are never shown again.',
    input: z.strictObject({}),
    output: z.object({ tokens: z.array(token) }),
    errors: ['forbidden'],
    example: {
      input: {},
      output: { tokens: [{ ...spare, token_id: 1, name: 'first', scopes: [...scopeNames] }, spare] },
    },
  }),
  create: post([], {
    summary:
      'Create an access token that can do no more than the one you use, and ends with it. It is shown only once.',
    input: z.strictObject({
      name: tokenName,
      scopes: z.array(z.enum(scopeNames)).min(1).max(100).optional().meta({
        description:
          'those of your token without `admin` by default; `admin` needs a browser session with a recently entered password',
      }),
      expires_in: lifetime,
    }),
    output: madeToken,
    errors: ['insufficient_scope', 'forbidden', 'conflict'],
    example: {
      input: { name: 'reader', scopes: ['messages:read', 'chats:read'] },
      output: { token: reader, access_token: 'pat_EXAMPLE' },
    },
  }),
  usage: get([], {
    summary: 'Count the requests of the last 30 days with your access tokens and with those of your bots, by day.',
    input: z.strictObject({}),
    output: z.object({ usage: z.array(tokenUse).meta({ description: 'only days with requests' }) }),
    errors: ['forbidden'],
    example: { input: {}, output: { usage: [] } },
  }),
  revoke: post([], {
    summary:
      'Revoke one of your access tokens and those that it created, at once. A token cannot revoke one that can do more than itself.',
    input: z.strictObject({ token_id: tokenId }),
    output: z.object({ token }),
    errors: ['not_found', 'insufficient_scope', 'forbidden'],
    example: { input: { token_id: 4 }, output: { token: spare } },
  }),
});
