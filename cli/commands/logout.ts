import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { plainLine } from '../failure.ts';
import { CredentialsFile } from '../login/credentials.ts';
import { revoke } from '../login/oauth.ts';
import { hint, oneLine, print } from '../output.ts';
import { chooseServer } from '../server-url.ts';
import { connection } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { url: connection.url, profile: connection.profile },
  notes: 'It removes the saved login and revokes it at the server.',
  async run(_, options, context) {
    const file = new CredentialsFile(chooseServer(options, context.env), context.env);
    await file.locked(() => signOut(file, context));
  },
});

async function signOut(file: CredentialsFile, context: CommandContext): Promise<void> {
  const { server } = file;
  const saved = file.loadIfValid();
  if (!file.remove()) throw new Error(`You are not signed in at ${server}.`);
  const failure = saved
    ? await revoke({ server, clock: context.clock }, saved.refresh_token).then(() => undefined, plainLine)
    : 'The saved login is damaged.';
  await print(context, saved ? `Signed out ${oneLine(saved.name)} at ${server}.` : `Signed out at ${server}.`);
  if (failure === undefined) return;
  await hint(context, oneLine(`The server did not revoke the access of the command line: ${failure}`));
}
