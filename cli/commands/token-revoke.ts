import type { TokenId } from '@parley/contract';
import { withdrawToken } from '@parley/server/auth/administer.ts';
import { token as presentToken } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print, printJson } from '../output.ts';
import { oneLine } from '../terminal.ts';
import { json, positive, worksOffline } from '../values.ts';

export const command = defineCommand({
  arguments: { 'token id': { summary: 'The id that token list shows.', read: positive } },
  options: { json },
  notes: `A running server refuses the token within two seconds. ${worksOffline}`,
  async run({ 'token id': tokenId }, options, context) {
    const token = presentToken(await inDatabase(context, (tools) => withdrawToken(tools, tokenId as TokenId)));
    if (options.json) return printJson(context, token);
    await print(context, `Revoked token ${token.token_id} (${oneLine(token.name)}).`);
  },
});
