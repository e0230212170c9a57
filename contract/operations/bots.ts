import { z } from 'zod';
import { displayName, tokenId, userId, userName } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { token, user } from '../records.ts';
import { botScopes } from '../scopes.ts';
import { lifetime, madeToken, reader, tokenName } from './tokens.ts';
import { ada } from './users.ts';

export const helper = {
  ...ada,
  user_id: 4,
  kind: 'bot' as const,
  owner_id: 1,
  name: 'helper',
  display_name: 'Helper',
  is_admin: false,
};

const botId = userId.meta({ description: 'one of your bots' });

/** A bot and its tokens outlive the access token of their owner, so all of this is done in a browser. */
export const bots = (_limits: Limits) => ({
  list: get([], {
    summary: 'List your bots.',
    inBrowser: true,
    input: z.strictObject({}),
    output: z.object({ bots: z.array(user) }),
    errors: ['forbidden'],
    example: { input: {}, output: { bots: [helper] } },
  }),
  create: post([], {
    summary: 'Create a bot: an automated account with access tokens of its own, for which you are responsible.',
    inBrowser: true,
    input: z.strictObject({
      name: userName,
      display_name: displayName.optional().meta({ description: 'the name by default' }),
    }),
    output: z.object({ bot: user }),
    errors: ['forbidden', 'conflict'],
    example: {
      input: { name: 'greeter', display_name: 'Greeter' },
      output: { bot: { ...helper, user_id: 5, name: 'greeter', display_name: 'Greeter' } },
    },
  }),
  tokens: get([], {
    summary: 'List the access tokens of one of your bots.',
    inBrowser: true,
    input: z.strictObject({ user_id: botId }),
    output: z.object({ tokens: z.array(token) }),
    errors: ['not_found', 'forbidden'],
    example: {
      input: { user_id: 4 },
      output: {
        tokens: [{ ...reader, token_id: 6, name: 'helper', scopes: ['messages:read', 'messages:write'] }],
      },
    },
  }),
  create_token: post([], {
    summary: 'Create an access token of one of your bots. It is shown only once.',
    inBrowser: true,
    input: z.strictObject({
      user_id: botId,
      name: tokenName,
      scopes: z.array(z.enum(botScopes)).min(1).max(100),
      expires_in: lifetime,
    }),
    output: madeToken,
    errors: ['not_found', 'forbidden', 'conflict'],
    example: {
      input: { user_id: 4, name: 'reader', scopes: ['messages:read', 'chats:read'] },
      output: { token: reader, access_token: 'pat_EXAMPLE' },
    },
  }),
  revoke_token: post([], {
    summary: 'Revoke an access token of one of your bots, at once.',
    inBrowser: true,
    input: z.strictObject({ user_id: botId, token_id: tokenId }),
    output: z.object({ token_id: tokenId }),
    errors: ['not_found', 'forbidden'],
    example: { input: { user_id: 4, token_id: 6 }, output: { token_id: 6 } },
  }),
  disable: post([], {
    summary: 'Disable one of your bots. Its access tokens and webhooks end at once; its messages stay.',
    inBrowser: true,
    input: z.strictObject({ user_id: botId }),
    output: z.object({ user_id: userId }),
    errors: ['not_found', 'forbidden'],
    example: { input: { user_id: 4 }, output: { user_id: 4 } },
  }),
});
