import { program } from '@parley/server/lib/program.ts';
import { type Client, createClient, type TokenSource } from '@parley-chat/sdk';
import type { CommandContext } from './context.ts';
import { CredentialsFile, findLogin, type SavedLogin } from './login/credentials.ts';
import { chooseServer, loginCommand, type Server, type ServerOptions } from './server-url.ts';

interface ConnectionOptions extends ServerOptions {
  readonly token: string | undefined;
}

type Access =
  | { readonly by: '--token' | 'PARLEY_TOKEN'; readonly token: string }
  | { readonly by: 'login'; readonly token: TokenSource; readonly login: SavedLogin };

export interface Connection {
  readonly server: string;
  readonly access: Access;
  readonly client: Client;
}

/** Returns the server and the access that the options, the environment or the saved login name. Sends nothing. */
export function openConnection(options: ConnectionOptions, context: CommandContext): Connection {
  const connection = findConnection(options, context);
  if (connection) return connection;
  const server = chooseServer(options, context.env);
  throw new Error(
    `You are not signed in at ${server.url}. Sign in (${loginCommand(server, context.env)}), or use a token: export PARLEY_TOKEN=$(${program} token create <user name>)`,
  );
}

/** Returns the same, or undefined without any access to the server. */
export function findConnection(options: ConnectionOptions, context: CommandContext): Connection | undefined {
  const server = chooseServer(options, context.env);
  const access = findAccess(server, options.token, context);
  const { url } = server;
  return access && { server: url, access, client: createClient({ url, token: access.token, clock: context.clock }) };
}

function findAccess(server: Server, token: string | undefined, context: CommandContext): Access | undefined {
  const { env } = context;
  if (token !== undefined) return { by: '--token', token };
  const fromEnvironment = env.PARLEY_TOKEN?.trim();
  if (fromEnvironment) return { by: 'PARLEY_TOKEN', token: fromEnvironment };
  const login = findLogin(new CredentialsFile(server, env), context);
  return login && { by: 'login', token: (refused) => login.token(refused), login };
}
