import { buildContract, defaultLimits } from '@parley/contract';
import { addBot } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { user as presentUser } from '@parley/server/operations/present.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, print, printJson } from '../output.ts';
import { UsageError } from '../usage.ts';
import { json, text, worksOffline } from '../values.ts';

/** `addBot` does not validate the display name. */
const fields = buildContract(defaultLimits).users.create.input.pick({ display_name: true });

export const command = defineCommand({
  arguments: { name: { summary: 'The name of the bot.', read: text } },
  options: {
    owner: { value: 'user name', summary: 'The owner of the bot. Required.', read: text },
    'display-name': { value: 'text', summary: 'The name that others see. Defaults to <name>.', read: text },
    json,
  },
  notes: `A bot cannot sign in. It uses access tokens. ${worksOffline}`,
  async run({ name }, options, context) {
    const { owner: ownerName } = options;
    if (ownerName === undefined) throw new UsageError('--owner is missing.');
    const { display_name: displayName } = validate(fields, { display_name: options['display-name'] });
    const bot = presentUser(await inDatabase(context, (tools) => addBot(tools, { name, displayName, ownerName })));
    if (options.json) return printJson(context, bot);
    await print(context, `Added the bot ${bot.name} with id ${bot.user_id}.`);
    await hint(context, `Create a token for it: npx parley token create ${bot.name}`);
  },
});
