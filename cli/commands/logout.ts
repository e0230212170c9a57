import { defineCommand } from '../command.ts';
import { CredentialsFile } from '../login/credentials.ts';
import { signOut } from '../login/sign-out.ts';
import { chooseServer } from '../server-url.ts';
import { connection } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { url: connection.url, profile: connection.profile },
  notes: 'It removes the saved login and revokes it at the server.',
  async run(_, options, context) {
    const file = new CredentialsFile(chooseServer(options, context.env), context.env);
    if (!(await signOut(file, context))) throw new Error(`You are not signed in at ${file.server}.`);
  },
});
