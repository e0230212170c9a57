import { type AuditAct, acts } from '@parley/server/auth/acts.ts';
import { isoTime } from '@parley/server/domain/time.ts';
import { type AuditRow, listAudit } from '@parley/server/store/access/audit.ts';
import { findUserByName } from '@parley/server/store/access/users.ts';
import { defineCommand } from '../command.ts';
import type { Environment } from '../context.ts';
import { inDatabase } from '../database.ts';
import { requireKnown } from '../known.ts';
import { columns, hint, jsonLine, localSecond, oneLine, printJson } from '../output.ts';
import { printTable } from '../table.ts';
import { json, positive, text, worksOffline } from '../values.ts';

const actNames = Object.keys(acts) as AuditAct[];

export const command = defineCommand({
  arguments: {},
  options: {
    limit: { value: 'number', summary: 'The maximum number of entries. Defaults to the newest 50.', read: positive },
    act: { value: 'act', summary: 'Only entries of this kind.', read: text },
    user: { value: 'user name', summary: 'Only entries of this user.', read: text },
    json,
  },
  notes: `The newest entry comes last. ${worksOffline}

Acts:
${columns(actNames.map((name) => [`  ${name}`, acts[name]])).join('\n')}`,
  async run(_, { limit = 50, act, user, json }, context) {
    const kind = act === undefined ? undefined : requireKnown('act', act, actNames);
    const rows = await inDatabase(context, async ({ engine }) => {
      const actor = user === undefined ? undefined : await findUserByName(engine, user);
      if (user !== undefined && !actor) throw new Error(`There is no user named ${user}.`);
      return listAudit(engine, { act: kind, userId: actor?.user_id }, limit);
    });
    const entries = rows.map(present).reverse();
    if (json) return printJson(context, { entries });
    if (entries.length === 0) return hint(context, 'No entries.');
    await printTable(
      context,
      entries.map((entry) => cells(entry, context.env)),
    );
  },
});

type Entry = ReturnType<typeof present>;

const present = (row: AuditRow) => ({ ...row, at: isoTime(row.at), details: JSON.parse(row.details) as object });

/** Returns the description of an act, or its name if a newer version wrote it. */
const describe = (act: string) => (acts as Readonly<Record<string, string>>)[act] ?? act;

const cells = (entry: Entry, env: Environment) =>
  [localSecond(entry.at, env), actorOf(entry), describe(entry.act), entry.address ?? '-', detailsOf(entry)].map(
    oneLine,
  );

function actorOf({ user_id, user_name, app_id, address }: Entry): string {
  const unknown = address === null ? '(operator)' : '(unknown)';
  const who = user_id === null ? unknown : (user_name ?? `user ${user_id}`);
  return app_id === 0 ? who : `${who} by app ${app_id}`;
}

const detailsOf = ({ details }: Entry) =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : jsonLine(value)}`)
    .join(', ');
