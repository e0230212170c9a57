import { buildContract, defaultLimits, type UserId } from '@parley/contract';
import { addBot, addUser, changePasswordOf } from '@parley/server/auth/administer.ts';
import { validate } from '@parley/server/http/validate.ts';
import { program } from '@parley/server/lib/program.ts';
import * as present from '@parley/server/operations/present.ts';
import { listUsers, type UserRow } from '@parley/server/store/access/users.ts';
import type { Engine } from '@parley/server/store/engine/engine.ts';
import { defineCommand, UsageError } from '../command.ts';
import { inDatabase } from '../database.ts';
import { hint, localTime, oneLine, print, printJson } from '../output.ts';
import { givenPassword, passwordOptions, requirePassword } from '../password.ts';
import { printTable } from '../table.ts';
import { json, text, worksOffline } from '../values.ts';

const displayNameOption = { value: 'text', summary: 'The name that others see. Defaults to <name>.', read: text };

const displayNameField = buildContract(defaultLimits).users.create.input.pick({ display_name: true });

/** Throws if the display name is invalid. `addUser` and `addBot` do not validate it. */
const checkDisplayName = (typed: string | undefined): string | undefined =>
  validate(displayNameField, { display_name: typed }).display_name;

/** Returns a user without the URL of the picture, which only a running server knows. */
const presentUser = (row: UserRow) => {
  const { avatar_url: _, ...user } = present.user(row, () => null);
  return user;
};

export const add = defineCommand({
  arguments: { name: { summary: 'The name to sign in with.', read: text } },
  options: {
    admin: { summary: 'Make the user an administrator.' },
    'display-name': displayNameOption,
    ...passwordOptions,
    json,
  },
  notes: worksOffline,
  async run({ name }, options, context) {
    const password = await givenPassword(options, context);
    const displayName = checkDisplayName(options['display-name']);
    const newUser = { name, displayName, isAdmin: options.admin, password };
    const user = presentUser(await inDatabase(context, (tools) => addUser(tools, newUser)));
    if (options.json) return printJson(context, user);
    await print(context, `Added the ${user.is_admin ? 'administrator' : 'user'} ${user.name} with id ${user.user_id}.`);
    if (password === undefined)
      await hint(context, `The user needs a password to sign in: ${program} user password ${user.name}`);
  },
});

export const list = defineCommand({
  arguments: {},
  options: { json },
  notes: worksOffline,
  async run(_, options, context) {
    const users = (await inDatabase(context, ({ engine }) => allUsers(engine))).map(presentUser);
    if (options.json) return printJson(context, { users });
    const names = new Map(users.map((u) => [u.user_id, u.name]));
    const ownerOf = (id: UserId | null) => id !== null && `of ${names.get(id) ?? id}`;
    await printTable(context, [
      ['id', 'name', 'kind', 'display name', 'since', ''],
      ...users.map((u) => [
        String(u.user_id),
        u.name,
        u.kind,
        oneLine(u.display_name),
        localTime(u.created_at, context.env),
        [u.is_admin && 'administrator', ownerOf(u.owner_id), u.disabled_at && 'disabled'].filter(Boolean).join(', '),
      ]),
    ]);
  },
});

const pageSize = 1_000;

async function allUsers(engine: Engine): Promise<UserRow[]> {
  const users: UserRow[] = [];
  for (;;) {
    const next = await listUsers(engine, users.at(-1)?.user_id ?? 0, pageSize);
    users.push(...next);
    if (next.length < pageSize) return users;
  }
}

export const password = defineCommand({
  arguments: { name: { summary: 'The user.', read: text } },
  options: passwordOptions,
  notes: `It prompts for the password if none is given. All sessions, access tokens and app authorizations of the user end within two seconds. Tokens of their bots stay valid. ${worksOffline}`,
  async run({ name }, options, context) {
    const password = await requirePassword(options, context);
    const user = await inDatabase(context, (tools) => changePasswordOf(tools, { userName: name, password }));
    await print(
      context,
      `Set the password of ${user.name}. All their sessions, access tokens and app authorizations ended.`,
    );
  },
});

export const botAdd = defineCommand({
  arguments: { name: { summary: 'The name of the bot.', read: text } },
  options: {
    owner: { value: 'user name', summary: 'The owner of the bot. Required.', read: text },
    'display-name': displayNameOption,
    json,
  },
  notes: `A bot cannot sign in. It uses access tokens. ${worksOffline}`,
  async run({ name }, options, context) {
    const { owner: ownerName } = options;
    if (ownerName === undefined) throw new UsageError('--owner is missing.');
    const displayName = checkDisplayName(options['display-name']);
    const bot = presentUser(await inDatabase(context, (tools) => addBot(tools, { name, displayName, ownerName })));
    if (options.json) return printJson(context, bot);
    await print(context, `Added the bot ${bot.name} with id ${bot.user_id}.`);
    await hint(context, `Create a token for it: ${program} token create ${bot.name}`);
  },
});
