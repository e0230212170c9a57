import { type Scope, scopeNames } from '@parley/contract';
import { createClient } from '@parley/sdk';
import { serverAddress } from '../address.ts';
import { openBrowser } from '../browser.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Credentials, CredentialsFile } from '../credentials.ts';
import { credentialsOf } from '../kept-login.ts';
import { nearest } from '../nearest.ts';
import type { Asked } from '../oauth/exchange.ts';
import { signIn } from '../oauth/sign-in.ts';
import { revoke, type Tokens } from '../oauth/tokens.ts';
import { hint, print } from '../output.ts';
import { abortOnSignal } from '../stopped-by.ts';
import { oneLine } from '../terminal.ts';
import { UsageError } from '../usage.ts';
import { connection, list } from '../values.ts';

const patienceMs = 5 * 60_000;

export const command = defineCommand({
  arguments: {},
  options: {
    scopes: {
      value: 'a,b',
      summary: 'What the command line may do for you; all but admin where it is not given.',
      read: list,
    },
    'no-browser': { summary: 'Only show the address to open, and open no browser.' },
    url: connection.url,
  },
  notes: `It shows an address, opens a browser there if it can, and waits for five minutes.

The browser must be one on this machine. On another machine, and in programs, use an access token: PARLEY_TOKEN.
What signing in gave is kept in ~/.config/parley (or $XDG_CONFIG_HOME/parley), apart for each server.

The scopes: ${scopeNames.join(', ')}.`,
  async run(_, options, context) {
    const server = serverAddress(options.url, context.env);
    const scopes = options.scopes?.map(knownScope) ?? scopeNames.filter((scope) => scope !== 'admin');
    const signedIn = await abortOnSignal(context, (signal) =>
      signIn({
        server,
        scopes,
        patienceMs,
        signal,
        clock: context.clock,
        show: async (address) => {
          await hint(context, `Open this address in a browser on this machine, and sign in:\n${address}`);
          if (!options['no-browser']) openBrowser(address, context);
        },
        finish: (tokens) => keep(server, tokens, context),
      }),
    );
    await print(context, `Signed in as ${oneLine(signedIn.name)} (id ${signedIn.user_id}) at ${server}.`);
    await hint(context, `It may do: ${oneLine(signedIn.scopes.join(', '))}.`);
    if (context.env.PARLEY_TOKEN?.trim()) {
      await hint(context, 'PARLEY_TOKEN is set, and comes before it. To use what you signed in to: unset PARLEY_TOKEN');
    }
  },
});

function knownScope(typed: string): Scope {
  const known = scopeNames.find((name) => name === typed);
  if (known) return known;
  const meant = nearest(typed, scopeNames);
  throw new UsageError(`There is no scope ${JSON.stringify(typed)}.${meant ? ` Did you mean ${meant}?` : ''}`);
}

/** Keeps what was got in place of what was kept. What is not kept ends: it would stand among what has access for ever. */
async function keep(server: string, tokens: Tokens, { env, clock }: CommandContext): Promise<Credentials> {
  const file = new CredentialsFile(server, env);
  try {
    const { user } = await createClient({ url: server, token: tokens.accessToken, clock }).users.me();
    const credentials = { user_id: user.user_id, name: user.name, ...credentialsOf(tokens) };
    const before = await file.locked(async () => {
      const kept = file.readIfWhole();
      file.write(credentials);
      return kept;
    });
    if (before) await endIfPossible({ server, clock }, before.refresh_token);
    return credentials;
  } catch (error) {
    await endIfPossible({ server, clock }, tokens.refreshToken);
    throw error;
  }
}

const endIfPossible = (asked: Asked, refreshToken: string) => revoke(asked, refreshToken).catch(() => {});
