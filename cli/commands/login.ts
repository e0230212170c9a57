import { scopeNames } from '@parley/contract';
import { createClient } from '@parley-chat/sdk';
import { openBrowser } from '../browser.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext, Environment } from '../context.ts';
import { requireKnown } from '../known.ts';
import { type Credentials, CredentialsFile } from '../login/credentials.ts';
import { revoke, type Tokens } from '../login/oauth.ts';
import { signIn } from '../login/sign-in.ts';
import { hint, oneLine, print } from '../output.ts';
import { keepProfile, profileName } from '../profiles.ts';
import { chooseServer, normalUrl, type Server, type ServerOptions } from '../server-url.ts';
import { abortOnSignal } from '../signals.ts';
import { connection, list } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    scopes: { value: 'a,b', summary: 'The scopes of the command line. Defaults to all but admin.', read: list },
    'no-browser': { summary: 'Only show the URL, and open no browser.' },
    url: connection.url,
    profile: {
      value: 'name',
      summary: 'Sign in to the server of this profile. With --url, the profile is created.',
      read: profileName,
    },
  },
  notes: `It shows a URL, opens a browser there if it can, and waits for five minutes.

The browser must run on this machine. On other machines and in programs, use an access token: PARLEY_TOKEN.
The login is saved in ~/.config/parley (or $XDG_CONFIG_HOME/parley), separately for each server.

Scopes: ${scopeNames.join(', ')}.`,
  async run(_, options, context) {
    const server = serverOf(options, context.env);
    const scopes =
      options.scopes?.map((typed) => requireKnown('scope', typed, scopeNames)) ??
      scopeNames.filter((scope) => scope !== 'admin');
    const signedIn = await abortOnSignal(context, (signal) =>
      signIn({
        server: server.url,
        scopes,
        signal,
        clock: context.clock,
        show: async (url) => {
          await hint(context, `Open this URL in a browser on this machine, and sign in:\n${url}`);
          if (!options['no-browser']) openBrowser(url, context);
        },
        finish: (tokens) => saveLogin(server, tokens, context),
      }),
    );
    if (server.profile !== undefined) keepProfile(server.profile, server.url, context.env);
    await print(context, `Signed in as ${oneLine(signedIn.name)} (id ${signedIn.user_id}) at ${server.url}.`);
    await hint(context, `Scopes: ${oneLine(signedIn.scopes.join(', '))}.`);
    if (context.env.PARLEY_TOKEN?.trim()) {
      await hint(context, 'PARLEY_TOKEN is set and takes precedence. To use this login: unset PARLEY_TOKEN');
    }
  },
});

/** With both options the URL is that of a profile to be. */
const serverOf = ({ url, profile }: ServerOptions, env: Environment): Server =>
  url !== undefined && profile !== undefined ? { url: normalUrl(url), profile } : chooseServer({ url, profile }, env);

/** Saves the login and revokes the one that it replaces. Revokes the new grant if it cannot be saved. */
async function saveLogin(server: Server, tokens: Tokens, { env, clock }: CommandContext): Promise<Credentials> {
  const file = new CredentialsFile(server, env);
  const { url } = server;
  const tryRevoke = (refreshToken: string) => revoke({ server: url, clock }, refreshToken).catch(() => {});
  try {
    const { user } = await createClient({ url, token: tokens.access_token, clock }).users.me();
    const credentials = { user_id: user.user_id, name: user.name, ...tokens };
    const before = await file.locked(async () => {
      const saved = file.loadIfValid();
      file.save(credentials);
      return saved;
    });
    if (before) await tryRevoke(before.refresh_token);
    return credentials;
  } catch (error) {
    await tryRevoke(tokens.refresh_token);
    throw error;
  }
}
