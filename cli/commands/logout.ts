import { serverAddress } from '../address.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { CredentialsFile } from '../credentials.ts';
import { plainLine } from '../failure.ts';
import type { Asked } from '../oauth/exchange.ts';
import { revoke } from '../oauth/tokens.ts';
import { hint, print } from '../output.ts';
import { oneLine } from '../terminal.ts';
import { connection } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { url: connection.url },
  notes: 'The server is told, so that what signing in gave is of no use to anybody.',
  async run(_, options, context) {
    const file = new CredentialsFile(serverAddress(options.url, context.env), context.env);
    await file.locked(() => signOut(file, context));
  },
});

async function signOut(file: CredentialsFile, context: CommandContext): Promise<void> {
  const { server } = file;
  const kept = file.readIfWhole();
  const wasKept = file.remove();
  if (!wasKept) throw new Error(`You are not signed in at ${server}.`);
  const trouble = kept ? await end({ server, clock: context.clock }, kept.refresh_token) : 'What was kept is damaged.';
  await print(context, kept ? `Signed out ${oneLine(kept.name)} at ${server}.` : `Signed out at ${server}.`);
  if (trouble === undefined) return;
  await hint(
    context,
    oneLine(`The server could not be told: ${trouble} There, the access of the command line goes on for now.`),
  );
}

/** Answers what went wrong, if something did. */
async function end(asked: Asked, refreshToken: string): Promise<string | undefined> {
  try {
    await revoke(asked, refreshToken);
    return undefined;
  } catch (error) {
    return plainLine(error);
  }
}
