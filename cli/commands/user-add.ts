import { buildContract, defaultLimits } from '@parley/contract';
import { addUser } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { user as presentUser } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { readStdin } from '../input.ts';
import { print, printJson } from '../output.ts';
import { UsageError } from '../usage.ts';
import { json, text } from '../values.ts';

/** What `addUser` leaves to its caller to check. */
const shown = buildContract(defaultLimits).users.create.input.pick({ display_name: true });

export const command = defineCommand({
  arguments: { name: { summary: 'The name to sign in with.', read: text } },
  options: {
    admin: { summary: 'Make the user an administrator.' },
    'display-name': { value: 'text', summary: 'The name that others see; <name> where it is not given.', read: text },
    password: {
      value: 'password',
      summary: 'The password to sign in with. It stays in the shell history.',
      read: text,
    },
    'password-stdin': { summary: 'Read the password from standard input.' },
    json,
  },
  notes: 'Works straight in the database, also beside a running server.',
  async run({ name }, options) {
    const password = await choosePassword(options);
    const { display_name: displayName } = validate(shown, { display_name: options['display-name'] });
    const asked = { name, displayName, isAdmin: options.admin, password };
    const user = presentUser(await inDatabase((tools) => addUser(tools, asked)));
    if (options.json) return printJson(user);
    await print(`Added the ${user.is_admin ? 'administrator' : 'user'} ${user.name} with id ${user.user_id}.`);
  },
});

async function choosePassword(options: { password: string | undefined; 'password-stdin': boolean }) {
  if (!options['password-stdin']) return options.password;
  if (options.password !== undefined) throw new UsageError('Give --password or --password-stdin, not both.');
  return readStdin();
}
