import { buildContract, defaultLimits } from '@parley/contract';
import { issueToken } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { token as presentToken } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, print, printJson } from '../output.ts';
import { json, list, text } from '../values.ts';

export const command = defineCommand({
  arguments: { 'user name': { summary: 'Whom the token is for.', read: text } },
  options: {
    scopes: {
      value: 'a,b',
      summary: 'What the token may do; all that the user may where it is not given.',
      read: list,
    },
    name: { value: 'label', summary: 'What the token is for, to know it by later.', read: text },
    json,
  },
  notes:
    'Only the token goes to standard output: export PARLEY_TOKEN=$(npx parley token create ada). Works straight in the database, also beside a running server.',
  async run({ 'user name': userName }, options, context) {
    const { tokens } = buildContract(defaultLimits);
    const asked = { name: options.name ?? 'command line', scopes: options.scopes };
    const { name, scopes } = validate(tokens.create.input, asked);
    const issued = await inDatabase(context, (tools) => issueToken(tools, { userName, name, scopes }));
    const token = presentToken(issued.token);
    const { accessToken: access_token } = issued;
    if (options.json) return printJson(context, { access_token, user_id: issued.token.user_id, ...token });
    await print(context, access_token);
    await hint(
      context,
      `Token ${token.token_id} of ${userName} may do: ${token.scopes.join(', ')}. It is shown this once.`,
    );
  },
});
