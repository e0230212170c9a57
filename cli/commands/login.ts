import { scopeNames } from '@parley/contract';
import { createClient } from '@parley-chat/sdk';
import { canOpenBrowser, openBrowser } from '../browser.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext, Environment } from '../context.ts';
import { requireKnown } from '../known.ts';
import { type Credentials, CredentialsFile } from '../login/credentials.ts';
import { type DeviceCode, signInOnDevice } from '../login/device.ts';
import { discover, hasDeviceCodes, revoke, type Tokens } from '../login/oauth.ts';
import { signIn } from '../login/sign-in.ts';
import { leaveOtherUrl } from '../login/sign-out.ts';
import { hint, oneLine, print } from '../output.ts';
import { keepProfile, profileName } from '../profiles.ts';
import { qrCode } from '../qr-code.ts';
import { chooseServer, normalUrl, type Server, type ServerOptions } from '../server-url.ts';
import { abortOnSignal } from '../signals.ts';
import { UsageError } from '../usage-error.ts';
import { connection, list } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    scopes: { value: 'a,b', summary: 'The scopes of the command line. Defaults to all but admin.', read: list },
    device: { summary: 'Show a code to enter in a browser on any machine.' },
    'no-browser': { summary: 'Only show the URL for a browser on this machine, and open none.' },
    url: connection.url,
    profile: {
      value: 'name',
      summary: 'Sign in to the server of this profile. With --url, the profile is created.',
      read: profileName,
    },
  },
  notes: `It opens a browser on this machine and waits for five minutes.

Where it cannot open one, such as over SSH, and with --device, it shows a URL and a code.
Enter the code in a browser on any machine within ten minutes.

In programs, use an access token: PARLEY_TOKEN.
The login is saved in ~/.config/parley (or $XDG_CONFIG_HOME/parley), separately for each server.

Scopes: ${scopeNames.join(', ')}.`,
  async run(_, options, context) {
    const server = serverOf(options, context.env);
    const scopes =
      options.scopes?.map((typed) => requireKnown('scope', typed, scopeNames)) ??
      scopeNames.filter((scope) => scope !== 'admin');
    if (options.device && options['no-browser']) throw new UsageError('Give --device or --no-browser, not both.');
    const { clock } = context;
    const target = { server: server.url, clock };
    const signedIn = await abortOnSignal(context, async (signal) => {
      const metadata = await discover(target);
      const finish = (tokens: Tokens) => saveLogin(server, tokens, context);
      const common = { ...target, metadata, scopes, signal, finish };
      const isLocal = options['no-browser'] || canOpenBrowser(context) || !hasDeviceCodes(metadata);
      if (options.device || !isLocal) return signInOnDevice({ ...common, show: (code) => showCode(code, context) });
      return signIn({
        ...common,
        show: async (url) => {
          await hint(context, `Open this URL in a browser on this machine, and sign in:\n${url}`);
          if (!options['no-browser']) openBrowser(url, context);
        },
      });
    });
    if (server.profile !== undefined) {
      await leaveOtherUrl({ profile: server.profile, url: server.url }, context);
      keepProfile(server.profile, server.url, context.env);
    }
    await print(context, `Signed in as ${oneLine(signedIn.name)} (id ${signedIn.user_id}) at ${server.url}.`);
    await hint(context, `Scopes: ${oneLine(signedIn.scopes.join(', '))}.`);
    if (context.env.PARLEY_TOKEN?.trim()) {
      await hint(context, 'PARLEY_TOKEN is set and takes precedence. To use this login: unset PARLEY_TOKEN');
    }
  },
});

async function showCode({ url, code, link }: DeviceCode, context: CommandContext): Promise<void> {
  const picture = link && (await qrCode(link, context));
  await hint(
    context,
    `Open this URL in a browser on any machine, and enter the code ${oneLine(code)}:\n${oneLine(url)}`,
  );
  if (picture) await hint(context, `\n${picture}\n`);
}

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
