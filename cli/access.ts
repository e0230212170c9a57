import { signInCommand } from './address.ts';
import type { CommandContext } from './context.ts';
import { CredentialsFile } from './credentials.ts';
import { KeptLogin } from './kept-login.ts';

/** With what a command has access to a server. */
export type Access =
  | { readonly by: '--token' | 'PARLEY_TOKEN'; readonly token: string }
  | { readonly by: 'login'; readonly login: KeptLogin };

/** What is named comes before what is kept. */
export function findAccess(server: string, token: string | undefined, context: CommandContext): Access {
  const { env } = context;
  if (token !== undefined) return { by: '--token', token };
  const fromEnvironment = env.PARLEY_TOKEN?.trim();
  if (fromEnvironment) return { by: 'PARLEY_TOKEN', token: fromEnvironment };
  const login = KeptLogin.find(new CredentialsFile(server, env), context);
  if (login) return { by: 'login', login };
  throw new Error(
    `You are not signed in at ${server}. Sign in (${signInCommand(server, env)}), or use a token: export PARLEY_TOKEN=$(npx parley token create <user name>)`,
  );
}
