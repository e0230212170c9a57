import { type Client, createClient, type TokenSource } from '@parley/sdk';
import { type Access, findAccess } from './access.ts';
import { serverAddress } from './address.ts';

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
export function openConnection(options: ConnectionOptions): Connection {
  const server = serverAddress(options.url);
  const token = tokenOf(findAccess(server, options.token));
  return { server, token, client: createClient({ url: server, token }) };
}

export const connect = (options: ConnectionOptions): Client => openConnection(options).client;

export const clientWith = (server: string, access: Access): Client =>
  createClient({ url: server, token: tokenOf(access) });

const tokenOf = (access: Access): TokenSource =>
  access.by === 'login' ? (refused) => access.login.token(refused) : access.token;
