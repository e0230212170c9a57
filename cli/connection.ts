import { type Client, createClient } from '@parley/sdk';
import { type Access, findAccess } from './access.ts';
import { serverAddress } from './address.ts';

/** A client for the server that the options or the environment name, with the access that they name or that is kept. */
export function connect(options: { readonly url: string | undefined; readonly token: string | undefined }): Client {
  const server = serverAddress(options.url);
  return clientWith(server, findAccess(server, options.token));
}

export const clientWith = (server: string, access: Access): Client =>
  createClient({
    url: server,
    token: access.by === 'login' ? (refused) => access.login.token(refused) : access.token,
  });
