import { program } from '@parley/server/lib/program.ts';
import { parseServerUrl } from '@parley-chat/sdk/request.ts';
import type { Environment } from './context.ts';
import { loadProfiles, profileUrl } from './profiles.ts';
import { UsageError } from './usage-error.ts';

const defaultUrl = 'http://127.0.0.1:8080';

/** What the options of a command say about its server. */
export interface ServerOptions {
  readonly url?: string | undefined;
  readonly profile?: string | undefined;
}

/** A server. Each profile has a login of its own, also at the same URL. */
export interface Server {
  readonly url: string;
  readonly profile?: string | undefined;
}

/** Returns the server that the options name, or else the environment, or else the profile in use. */
export function chooseServer(options: ServerOptions, env: Environment): Server {
  if (options.url !== undefined && options.profile !== undefined) {
    throw new UsageError('Give --url or --profile, not both.');
  }
  const url = options.url ?? (options.profile === undefined ? env.PARLEY_URL : undefined);
  if (url) return { url: normalUrl(url) };
  const profile = options.profile ?? (env.PARLEY_PROFILE || loadProfiles(env).current);
  return profile ? { url: normalUrl(profileUrl(profile, env)), profile } : { url: defaultUrl };
}

/** Returns a server URL in one spelling. */
export function normalUrl(given: string): string {
  const url = parseServerUrl(given);
  if (url !== undefined) return url;
  throw new Error(`The server URL must be like ${defaultUrl}, not ${JSON.stringify(given)}.`);
}

/** Returns the command that signs in to a server. */
export function loginCommand(server: Server, env: Environment): string {
  if (isChosen(server, env)) return `${program} login`;
  return `${program} login ${server.profile === undefined ? `--url ${server.url}` : `--profile ${server.profile}`}`;
}

/** Whether a command without options would use this server. */
function isChosen(server: Server, env: Environment): boolean {
  try {
    const chosen = chooseServer({}, env);
    return chosen.url === server.url && chosen.profile === server.profile;
  } catch {
    return false;
  }
}
