import { listTokensOf } from '@parley/server/auth/administer.ts';
import { token as presentToken } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print, printJson } from '../output.ts';
import { columns } from '../table.ts';
import { localTime, oneLine } from '../terminal.ts';
import { json, text, worksOffline } from '../values.ts';

export const command = defineCommand({
  arguments: { 'user name': { summary: 'The owner of the tokens.', read: text } },
  options: { json },
  notes: `It does not show the tokens themselves. ${worksOffline}`,
  async run({ 'user name': userName }, options, context) {
    const tokens = (await inDatabase(context, (tools) => listTokensOf(tools, userName))).map(presentToken);
    if (options.json) return printJson(context, { tokens });
    await print(
      context,
      ...columns([
        ['id', 'name', 'created', 'last used', 'scopes'],
        ...tokens.map((t) => [
          String(t.token_id),
          oneLine(t.name),
          localTime(t.created_at, context.env),
          t.last_used_at === null ? 'never' : localTime(t.last_used_at, context.env),
          t.scopes.join(','),
        ]),
      ]),
    );
  },
});
