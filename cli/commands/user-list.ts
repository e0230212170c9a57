import { user as presentUser } from '@parley/server/operations/present.ts';
import type { Engine } from '@parley/server/store/engine.ts';
import { listUsers, type UserRow } from '@parley/server/store/users.ts';
import { defineCommand } from '../command.ts';
import { inDatabase } from '../database.ts';
import { print, printJson } from '../output.ts';
import { columns } from '../table.ts';
import { localTime, oneLine } from '../terminal.ts';
import { json } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: { json },
  notes: 'Works straight in the database, also beside a running server.',
  async run(_, options) {
    const users = (await inDatabase(({ engine }) => allUsers(engine))).map(presentUser);
    if (options.json) return printJson({ users });
    await print(
      ...columns([
        ['id', 'name', 'display name', 'since', ''],
        ...users.map((u) => [
          String(u.user_id),
          u.name,
          oneLine(u.display_name),
          localTime(u.created_at),
          [u.is_admin && 'administrator', u.disabled_at && 'disabled'].filter(Boolean).join(', '),
        ]),
      ]),
    );
  },
});

const page = 1_000;

async function allUsers(engine: Engine): Promise<UserRow[]> {
  const users: UserRow[] = [];
  for (;;) {
    const next = await listUsers(engine, users.at(-1)?.user_id ?? 0, page);
    users.push(...next);
    if (next.length < page) return users;
  }
}
