import { buildContract, defaultLimits } from '@parley/contract';
import { issueToken } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { token as presentToken } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, print, printJson } from '../output.ts';
import { json, list, text, worksOffline } from '../values.ts';

export const command = defineCommand({
  arguments: { 'user name': { summary: 'The owner of the token.', read: text } },
  options: {
    scopes: { value: 'a,b', summary: 'The scopes of the token. Defaults to all that the user may have.', read: list },
    name: { value: 'label', summary: 'A label that describes the purpose of the token.', read: text },
    json,
  },
  notes: `Only the token goes to standard output: export PARLEY_TOKEN=$(npx parley token create ada). ${worksOffline}`,
  async run({ 'user name': userName }, options, context) {
    const { tokens } = buildContract(defaultLimits);
    const requested = { name: options.name ?? 'command line', scopes: options.scopes };
    const { name, scopes } = validate(tokens.create.input, requested);
    const issued = await inDatabase(context, (tools) => issueToken(tools, { userName, name, scopes }));
    const token = presentToken(issued.token);
    const { accessToken: access_token } = issued;
    if (options.json) return printJson(context, { access_token, user_id: issued.token.user_id, ...token });
    await print(context, access_token);
    await hint(
      context,
      `Token ${token.token_id} of ${userName}, scopes: ${token.scopes.join(', ')}. It is shown only once.`,
    );
  },
});
