import { type Client, createClient, type TokenSource } from '@parley/sdk';
import { type Access, findAccess } from './access.ts';
import { serverAddress } from './address.ts';
import type { CommandContext } from './context.ts';

export interface ConnectionOptions {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/** A server, and the access to it. */
export interface Connection {
  readonly server: string;
  readonly token: TokenSource;
  readonly client: Client;
}

/** The server that the options or the environment name, with the access that they name or that is kept. */
export function openConnection(options: ConnectionOptions, context: CommandContext): Connection {
  const server = serverAddress(options.url, context.env);
  const token = tokenOf(findAccess(server, options.token, context));
  return { server, token, client: createClient({ url: server, token, clock: context.clock }) };
}

export const connect = (options: ConnectionOptions, context: CommandContext): Client =>
  openConnection(options, context).client;

export const clientWith = (server: string, access: Access, { clock }: CommandContext): Client =>
  createClient({ url: server, token: tokenOf(access), clock });

const tokenOf = (access: Access): TokenSource =>
  access.by === 'login' ? (refused) => access.login.token(refused) : access.token;
