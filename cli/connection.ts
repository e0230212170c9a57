import { type Client, createClient } from '@parley/sdk';
import { serverAddress } from './address.ts';

/** A client for the server and the access token that the options or the environment name. */
export function connect(options: { readonly url: string | undefined; readonly token: string | undefined }): Client {
  const token = options.token ?? process.env.PARLEY_TOKEN?.trim();
  if (!token) {
    throw new Error('There is no access token. Make one: export PARLEY_TOKEN=$(npx parley token create <user name>)');
  }
  return createClient({ url: serverAddress(options.url), token });
}
