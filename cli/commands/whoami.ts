import { type Access, findAccess } from '../access.ts';
import { serverAddress } from '../address.ts';
import { defineCommand } from '../command.ts';
import { clientWith } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { oneLine } from '../terminal.ts';
import { connection, json } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { json, ...connection },
  async run(_, options, context) {
    const server = serverAddress(options.url, context.env);
    const access = findAccess(server, options.token, context);
    const { user } = await clientWith(server, access, context).users.me();
    // Of a token that somebody made, only the server knows what it may do, and it does not tell.
    const scopes = access.by === 'login' ? access.login.scopes : null;
    const { user_id, name } = user;
    const by = access.by === 'login' ? 'login' : 'token';
    if (options.json) return printJson(context, { user_id, name, server, by, scopes });
    await print(
      context,
      `${oneLine(name)} (id ${user_id}) at ${server}, by ${ways[access.by]}.`,
      ...(scopes ? [`It may do: ${oneLine(scopes.join(', '))}.`] : []),
    );
  },
});

const ways: Readonly<Record<Access['by'], string>> = {
  '--token': 'the access token of --token',
  PARLEY_TOKEN: 'the access token in PARLEY_TOKEN',
  login: 'signing in with parley login',
};
