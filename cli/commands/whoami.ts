import { program } from '@parley/server/lib/program.ts';
import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { oneLine, print, printJson } from '../output.ts';
import { connection, json } from '../values.ts';

const sources = {
  '--token': 'the access token of --token',
  PARLEY_TOKEN: 'the access token in PARLEY_TOKEN',
  login: `${program} login`,
} as const;

export const command = defineCommand({
  arguments: {},
  options: { json, ...connection },
  async run(_, options, context) {
    const { server, access, client } = openConnection(options, context);
    const { user_id, name } = (await client.users.me()).user;
    // The server does not report the scopes of an access token.
    const scopes = access.by === 'login' ? access.login.scopes : null;
    const by = access.by === 'login' ? 'login' : 'token';
    if (options.json) return printJson(context, { user_id, name, server, by, scopes });
    await print(
      context,
      `${oneLine(name)} (id ${user_id}) at ${server}, by ${sources[access.by]}.`,
      ...(scopes ? [`Scopes: ${oneLine(scopes.join(', '))}.`] : []),
    );
  },
});
