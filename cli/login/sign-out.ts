import type { CommandContext } from '../context.ts';
import { plainLine } from '../failure.ts';
import { hint, oneLine, print } from '../output.ts';
import { loadProfiles } from '../profiles.ts';
import { CredentialsFile } from './credentials.ts';
import { revoke } from './oauth.ts';

/** Removes a saved login, and revokes it at the server. Says so. Returns false if there is none. */
export function signOut(file: CredentialsFile, context: CommandContext): Promise<boolean> {
  return file.locked(async () => {
    const { server } = file;
    const saved = file.loadIfValid();
    if (!file.remove()) return false;
    const failure = saved
      ? await revoke({ server, clock: context.clock }, saved.refresh_token).then(() => undefined, plainLine)
      : 'The saved login is damaged.';
    await print(context, saved ? `Signed out ${oneLine(saved.name)} at ${server}.` : `Signed out at ${server}.`);
    if (failure !== undefined) {
      await hint(context, oneLine(`The server did not revoke the access of the command line: ${failure}`));
    }
    return true;
  });
}

/** Signs out where a profile was before it gets this URL. Its login is saved by the old one, and no command would find it. */
export async function leaveOtherUrl(
  { profile, url }: { readonly profile: string; readonly url: string },
  context: CommandContext,
): Promise<void> {
  const { urls } = loadProfiles(context.env);
  const old = Object.hasOwn(urls, profile) ? urls[profile] : undefined;
  if (old === undefined || old === url) return;
  await signOut(new CredentialsFile({ url: old, profile }, context.env), context);
}
