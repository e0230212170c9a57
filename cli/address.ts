import type { Environment } from './context.ts';

const usual = 'http://127.0.0.1:8080';

const fromEnvironment = (env: Environment) => env.PARLEY_URL || usual;

/** The server that the option or the environment names, in one spelling: as the client takes it, without `/api`. */
export function serverAddress(option: string | undefined, env: Environment): string {
  const given = option ?? fromEnvironment(env);
  const address = spell(given);
  if (address !== undefined) return address;
  throw new Error(`The server's address must be one such as ${usual}, not ${JSON.stringify(given)}.`);
}

function spell(given: string): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  return `${url.origin}${url.pathname.replace(/(?:\/api)?\/*$/, '')}`;
}

/** What to type to sign in to a server. */
export const signInCommand = (server: string, env: Environment): string =>
  server === spell(fromEnvironment(env)) ? 'npx parley login' : `npx parley login --url ${server}`;
