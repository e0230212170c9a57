import { ParleyError, type Setting, type UserId } from '@parley/contract';
import type { AuditDetails } from '../auth/audit.ts';
import { idsIn } from '../auth/audit-ids.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import { backupCommand } from '../lib/program.ts';
import { namesOfApps } from '../store/access/apps.ts';
import { type AuditRow, listAudit } from '../store/access/audit.ts';
import { listUse, sumFileBytes } from '../store/access/owner-use.ts';
import { findUserByName, namesOf } from '../store/access/users.ts';
import { listAllChats } from '../store/chat/all-chats.ts';
import { lastMessages } from '../store/chat/last-messages.ts';
import type { Db } from '../store/engine/engine.ts';
import { number } from '../store/engine/query.ts';
import { listSamples } from '../store/observe/samples.ts';
import { dayMs } from './daily-messages.ts';
import type { Handlers, Services } from './operation.ts';
import * as present from './present.ts';

/** What administrators may know about the process. */
export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  readonly settings: readonly Setting[];
  readonly files: 'data_folder' | 's3';
  readonly measureDisk: () => Promise<DiskSpace>;
  /** Whether the last scheduled backup failed, and none was made since. */
  readonly isBackupFailing: () => boolean;
}

const minuteMs = 60_000;

/** Up to so many hours are shown minute by minute. */
const maxFineHours = 4;

/** What administrators see of the whole service. The scope `admin` keeps others out. */
export const administrationHandlers = (services: Services) => {
  const { engine, now } = services;
  return {
    'service.status': async () => {
      const { version, startedAt, files, measureDisk, isBackupFailing } = services.server;
      const { free, total } = await measureDisk();
      return {
        status: {
          version,
          started_at: present.time(startedAt),
          database: engine.dialect.name,
          database_bytes: await number(engine, `SELECT ${engine.dialect.databaseBytes} AS bytes`),
          files,
          file_bytes: await sumFileBytes(engine),
          disk_free_bytes: free,
          disk_total_bytes: total,
          last_backup: await lastBackup(engine),
          backup_failing: isBackupFailing(),
          backup_command: backupCommand,
        },
      };
    },

    'service.history': async ({ input: { hours } }) => {
      const interval_minutes = hours <= maxFineHours ? 1 : 5;
      // The current minute is not over, so it has no sample.
      const since = Math.floor(now() / minuteMs) - hours * 60;
      const rows = await listSamples(engine, since, interval_minutes);
      return { interval_minutes, samples: rows.map(present.metricSample) };
    },

    'service.chats': async ({ input: { query, type, limit, before_id: beforeId } }) => {
      const found = await listAllChats(engine, { query, type, beforeId, limit: limit + 1 });
      const { rows, has_more } = present.page(found, limit);
      const last = await lastMessages(
        engine,
        rows.flatMap(({ last_message_id }) => last_message_id ?? []),
      );
      const timeOf = (id: (typeof rows)[number]['last_message_id']) =>
        id === null ? undefined : last.get(id)?.created_at;
      return { chats: rows.map((row) => present.chatUse(row, timeOf(row.last_message_id))), has_more };
    },

    'service.use': async ({ input: { by, limit, after } }) => {
      const [use = 0, userId = 0] = (after ?? '').split('.').map(Number);
      const found = await listUse(engine, {
        today: Math.floor(now() / dayMs),
        by,
        limit: limit + 1,
        after: after === undefined ? undefined : { use, userId },
      });
      const { rows, has_more } = present.page(found, limit);
      const last = rows.at(-1);
      return {
        people: rows.map(present.personUse),
        has_more,
        next: has_more && last ? `${last[by]}.${last.user_id}` : null,
      };
    },

    'service.audit': async ({ input }) => {
      const { act, since, until, limit, before_id: beforeId } = input;
      const userId = input.user_id ?? (await userCalled(engine, input.user_name));
      const found = await listAudit(engine, { act, userId, since, until, beforeId }, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      return { entries: rows.map(present.auditEntry), ...(await namesIn(engine, rows)), has_more };
    },

    'service.settings': async ({ input: { name } }) => {
      const settings = services.server.settings.filter((setting) => name === undefined || setting.name === name);
      if (settings.length === 0) throw new ParleyError('not_found', `There is no setting ${name}.`);
      return { settings };
    },
  } satisfies Partial<Handlers>;
};

async function userCalled(db: Db, name: string | undefined): Promise<UserId | undefined> {
  if (name === undefined) return undefined;
  const user = await findUserByName(db, name);
  if (!user) throw new ParleyError('not_found', 'There is no user with this name.');
  return user.user_id;
}

/** Returns the last backup that the command line has recorded. */
async function lastBackup(db: Db) {
  const [entry] = await listAudit(db, { act: 'backup_made' }, 1);
  if (!entry) return null;
  const { messages, files, bytes, encrypted } = JSON.parse(entry.details) as Record<string, unknown>;
  return {
    at: present.time(entry.at),
    messages: Number(messages),
    files: Number(files),
    bytes: Number(bytes),
    encrypted: encrypted === true,
  };
}

/** Returns the names of all users and apps that entries refer to. */
async function namesIn(db: Db, entries: readonly AuditRow[]) {
  const referred = (of: 'users' | 'apps') =>
    entries.flatMap(({ details }) => idsIn(JSON.parse(details) as AuditDetails, of));
  const users = await namesOf(db, [...referred('users'), ...entries.flatMap(({ user_id }) => user_id ?? [])]);
  const apps = await namesOfApps(db, [...referred('apps'), ...entries.map(({ app_id }) => app_id)]);
  return {
    users: [...users].map(([user_id, name]) => ({ user_id: user_id as UserId, name })),
    apps: [...apps].map(([app_id, name]) => ({ app_id, name })),
  };
}
