import { defineCommand, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import { hint, localTime, oneLine, print, printJson } from '../output.ts';
import { printTable } from '../table.ts';
import { connection, json, positive, text } from '../values.ts';

export const list = defineCommand({
  arguments: {},
  options: { json, ...connection },
  async run(_, { json, ...where }, context) {
    const { apps } = await openConnection(where, context).client.apps.list();
    if (json) return printJson(context, { apps });
    if (apps.length === 0) return hint(context, 'No apps.');
    await printTable(context, [
      ['id', 'client id', 'secret', 'registered', 'name'],
      ...apps.map((app) => [
        String(app.app_id),
        app.client_id,
        app.confidential ? 'yes' : 'no',
        localTime(app.created_at, context.env),
        oneLine(app.name),
      ]),
    ]);
  },
});

export const register = defineCommand({
  arguments: {
    name: { summary: 'The name that people see when they are asked to authorize the app.', read: text },
    'redirect URL': { summary: 'Where people return, such as https://example.com/callback.', read: text, rest: true },
  },
  options: {
    confidential: { summary: 'The app runs on a server and can keep a secret.' },
    json,
    ...connection,
  },
  prints: 'apps.register',
  notes:
    'An app without a secret runs in a browser or on the device of its user. Only a browser can give an app a bot.',
  async run({ name, 'redirect URL': redirects }, { confidential, json, ...where }, context) {
    if (redirects.length === 0) throw new UsageError('<redirect URL> is missing.');
    const { client } = openConnection(where, context);
    const registered = await client.apps.register({ name, redirects, confidential });
    if (json) return printJson(context, registered);
    const { app, client_secret } = registered;
    await print(context, `client_id=${app.client_id}`);
    if (client_secret !== null) {
      await print(context, `client_secret=${client_secret}`);
      await hint(context, 'The secret is shown only once.');
    }
  },
});

export const remove = defineCommand({
  arguments: { 'app id': { summary: 'The id that apps list shows.', read: positive } },
  options: { json, ...connection },
  prints: 'apps.delete',
  notes: 'The app loses all access at once, for everyone. Its bot stays.',
  async run({ 'app id': app_id }, { json, ...where }, context) {
    const deleted = await openConnection(where, context).client.apps.delete({ app_id });
    if (json) return printJson(context, deleted);
    await print(context, `Deleted app ${app_id}.`);
  },
});
