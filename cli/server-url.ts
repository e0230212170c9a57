import { program } from '@parley/server/lib/program.ts';
import { parseServerUrl } from '@parley-chat/sdk/request.ts';
import type { Environment } from './context.ts';

const defaultUrl = 'http://127.0.0.1:8080';

/** Returns the normalized URL of the server that the option or the environment names. */
export function serverUrl(option: string | undefined, env: Environment): string {
  const given = option ?? (env.PARLEY_URL || defaultUrl);
  const url = parseServerUrl(given);
  if (url !== undefined) return url;
  throw new Error(`The server URL must be like ${defaultUrl}, not ${JSON.stringify(given)}.`);
}

/** Returns the command that signs in to a server. */
export const loginCommand = (server: string, env: Environment): string =>
  server === parseServerUrl(env.PARLEY_URL || defaultUrl) ? `${program} login` : `${program} login --url ${server}`;
