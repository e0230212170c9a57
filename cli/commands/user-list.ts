import type { UserId } from '@parley/contract';
import { user as presentUser } from '@parley/server/operations/present.ts';
import { listUsers, type UserRow } from '@parley/server/store/access/users.ts';
import type { Engine } from '@parley/server/store/engine/engine.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print, printJson } from '../output.ts';
import { columns } from '../table.ts';
import { localTime, oneLine } from '../terminal.ts';
import { json, worksOffline } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { json },
  notes: worksOffline,
  async run(_, options, context) {
    const users = (await inDatabase(context, ({ engine }) => allUsers(engine))).map(presentUser);
    if (options.json) return printJson(context, { users });
    const names = new Map(users.map((u) => [u.user_id, u.name]));
    const ownerOf = (id: UserId | null) => id !== null && `of ${names.get(id) ?? id}`;
    await print(
      context,
      ...columns([
        ['id', 'name', 'kind', 'display name', 'since', ''],
        ...users.map((u) => [
          String(u.user_id),
          u.name,
          u.kind,
          oneLine(u.display_name),
          localTime(u.created_at, context.env),
          [u.is_admin && 'administrator', ownerOf(u.owner_id), u.disabled_at && 'disabled'].filter(Boolean).join(', '),
        ]),
      ]),
    );
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
