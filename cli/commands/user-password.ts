import { changePasswordOf } from '@parley/server/auth/administer.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print } from '../output.ts';
import { passwordOptions, requirePassword } from '../password.ts';
import { text } from '../values.ts';

export const command = defineCommand({
  arguments: { name: { summary: 'Whose password to set.', read: text } },
  options: passwordOptions,
  notes:
    'It asks for the password where none is given. Every browser in which the user is signed in is signed out, by a running server within two seconds; access tokens stay. Works straight in the database.',
  async run({ name }, options, context) {
    const password = await requirePassword(options, context);
    const user = await inDatabase(context, (tools) => changePasswordOf(tools, { userName: name, password }));
    await print(context, `Set the password of ${user.name}.`);
  },
});
