import { buildContract, defaultLimits } from '@parley/contract';
import { addUser } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { user as presentUser } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, print, printJson } from '../output.ts';
import { givenPassword, passwordOptions } from '../password.ts';
import { json, text, worksOffline } from '../values.ts';

/** `addUser` does not validate the display name. */
const fields = buildContract(defaultLimits).users.create.input.pick({ display_name: true });

export const command = defineCommand({
  arguments: { name: { summary: 'The name to sign in with.', read: text } },
  options: {
    admin: { summary: 'Make the user an administrator.' },
    'display-name': { value: 'text', summary: 'The name that others see. Defaults to <name>.', read: text },
    ...passwordOptions,
    json,
  },
  notes: worksOffline,
  async run({ name }, options, context) {
    const password = await givenPassword(options, context);
    const { display_name: displayName } = validate(fields, { display_name: options['display-name'] });
    const newUser = { name, displayName, isAdmin: options.admin, password };
    const user = presentUser(await inDatabase(context, (tools) => addUser(tools, newUser)));
    if (options.json) return printJson(context, user);
    await print(context, `Added the ${user.is_admin ? 'administrator' : 'user'} ${user.name} with id ${user.user_id}.`);
    if (password === undefined)
      await hint(context, `The user needs a password to sign in: npx parley user password ${user.name}`);
  },
});
