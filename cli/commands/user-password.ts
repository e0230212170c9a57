import { changePasswordOf } from '@parley/server/auth/administer.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print } from '../output.ts';
import { passwordOptions, requirePassword } from '../password.ts';
import { text, worksOffline } from '../values.ts';

export const command = defineCommand({
  arguments: { name: { summary: 'The user.', read: text } },
  options: passwordOptions,
  notes: `It prompts for the password if none is given. The user is signed out of all browsers within two seconds. Access tokens stay valid. ${worksOffline}`,
  async run({ name }, options, context) {
    const password = await requirePassword(options, context);
    const user = await inDatabase(context, (tools) => changePasswordOf(tools, { userName: name, password }));
    await print(context, `Set the password of ${user.name}.`);
  },
});
