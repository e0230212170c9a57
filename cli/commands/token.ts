import { buildContract, defaultLimits, type TokenId } from '@parley/contract';
import { issueToken, listTokensOf, withdrawToken } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { program } from '@parley/server/lib/program.ts';
import { token as presentToken } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, localTime, oneLine, print, printJson } from '../output.ts';
import { printTable } from '../table.ts';
import { json, list, positive, text, worksOffline } from '../values.ts';

export const create = defineCommand({
  arguments: { 'user name': { summary: 'The owner of the token.', read: text } },
  options: {
    scopes: { value: 'a,b', summary: 'The scopes of the token. Defaults to all that the user may have.', read: list },
    name: { value: 'label', summary: 'A label that describes the purpose of the token.', read: text },
    json,
  },
  notes: `Only the token goes to standard output: export PARLEY_TOKEN=$(${program} token create ada). ${worksOffline}`,
  async run({ 'user name': userName }, options, context) {
    const { tokens } = buildContract(defaultLimits);
    const requested = { name: options.name ?? 'command line', scopes: options.scopes };
    const { name, scopes } = validate(tokens.create.input, requested);
    const issued = await inDatabase(context, (tools) => issueToken(tools, { userName, name, scopes }));
    const token = presentToken(issued.token);
    const { accessToken: access_token } = issued;
    if (options.json) return printJson(context, { access_token, user_id: issued.token.user_id, ...token });
    await print(context, access_token);
    const details = `Token ${token.token_id} of ${userName}, scopes: ${token.scopes.join(', ')}.`;
    await hint(context, `${details} It is shown only once.`);
  },
});

export const listTokens = defineCommand({
  arguments: { 'user name': { summary: 'The owner of the tokens.', read: text } },
  options: { json },
  notes: `It does not show the tokens themselves. ${worksOffline}`,
  async run({ 'user name': userName }, options, context) {
    const tokens = (await inDatabase(context, (tools) => listTokensOf(tools, userName))).map(presentToken);
    if (options.json) return printJson(context, { tokens });
    await printTable(context, [
      ['id', 'name', 'created', 'last used', 'scopes'],
      ...tokens.map((t) => [
        String(t.token_id),
        oneLine(t.name),
        localTime(t.created_at, context.env),
        t.last_used_at === null ? 'never' : localTime(t.last_used_at, context.env),
        t.scopes.join(','),
      ]),
    ]);
  },
});

export const revoke = defineCommand({
  arguments: { 'token id': { summary: 'The id that token list shows.', read: positive } },
  options: { json },
  notes: `A running server refuses the token within two seconds. ${worksOffline}`,
  async run({ 'token id': tokenId }, options, context) {
    const token = presentToken(await inDatabase(context, (tools) => withdrawToken(tools, tokenId as TokenId)));
    if (options.json) return printJson(context, token);
    await print(context, `Revoked token ${token.token_id} (${oneLine(token.name)}).`);
  },
});
