import { z } from 'zod';
import { chatId, count, time, userId } from './fields.ts';
import { chatType, visibility } from './records.ts';

const bytes = z.int().nonnegative();

/** The metrics of an interval, of all servers together. */
export const metricSample = z
  .object({
    at: time.meta({ description: 'the begin of the interval' }),
    messages: count.meta({ description: 'messages that were sent' }),
    people_online: count.meta({
      description: 'people with an open client, but for those who hide it; the most at one time',
    }),
    streams: count.meta({ description: 'open event streams; the most at one time' }),
    webhook_lag_ms: count.nullable().meta({
      description: 'time from an event to its first attempt at a webhook, on average; null without any',
    }),
    backlog: count.meta({ description: 'deliveries to webhooks that wait, up to 100,000; the most at one time' }),
    disk_free_bytes: bytes.meta({ description: 'free on the disk of the data folder; the least at one time' }),
    disk_total_bytes: bytes.meta({ description: 'the size of that disk' }),
    requests: count,
    server_errors: count.meta({ description: 'responses with a status of 500 and above' }),
  })
  .meta({ id: 'MetricSample' });

/** A chat as administrators see it, without anything of its messages. */
export const chatUse = z
  .object({
    chat_id: chatId,
    type: chatType,
    visibility,
    name: z.string().nullable().meta({ description: 'null for a direct chat' }),
    participant_count: count,
    message_count: count.meta({ description: 'messages, up to 1,000, deleted ones included' }),
    created_at: time,
    last_message_at: time.nullable().meta({ description: 'null without messages' }),
  })
  .meta({ id: 'ChatUse' });

/** What a person and their bots use. */
export const personUse = z
  .object({
    user_id: userId,
    name: z.string(),
    disabled_at: time.nullable(),
    file_bytes: bytes.meta({ description: 'the bytes of their files' }),
    messages: count.meta({ description: 'messages sent and edited today, in UTC' }),
    chats: count.meta({ description: 'chats that they have created' }),
    webhooks: count,
    bots: count.meta({ description: 'bots that are not disabled' }),
  })
  .meta({ id: 'PersonUse' });

export const useColumns = ['file_bytes', 'messages', 'chats', 'webhooks', 'bots'] as const;

export const auditEntry = z
  .object({
    audit_id: z.int().positive().meta({ description: 'rises with time' }),
    at: time,
    act: z.string().meta({ description: 'what was done, such as `signed_in`' }),
    user_id: userId.nullable().meta({ description: 'who did it; null for the operator and for unknown people' }),
    app_id: z.int().positive().nullable().meta({ description: 'the app with which it was done' }),
    address: z.string().nullable().meta({ description: 'the IP address; null at the command line' }),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: 'facts that depend on `act`; never a secret or a text' }),
  })
  .meta({ id: 'AuditEntry' });

/** A user or an app that entries refer to. */
export const namedUser = z.object({ user_id: userId, name: z.string() });
export const namedApp = z.object({ app_id: z.int().positive(), name: z.string() });

export const setting = z
  .object({
    name: z.string().meta({ description: 'the environment variable' }),
    summary: z.string(),
    value: z.string().nullable().meta({ description: 'as in the environment; null if it is a secret that is set' }),
    default: z.string().meta({ description: 'empty if there is none' }),
    secret: z.boolean(),
    source: z.enum(['default', 'environment', 'file']).meta({
      description: '`file`: the server has stored it in the data folder',
    }),
  })
  .meta({ id: 'Setting' });

export const serviceStatus = z
  .object({
    version: z.string(),
    started_at: time.meta({ description: 'when the server that responds was started' }),
    database: z.enum(['sqlite', 'postgres']),
    database_bytes: bytes,
    files: z.enum(['data_folder', 's3']).meta({ description: 'where files are stored' }),
    file_bytes: bytes.meta({ description: 'the bytes of all files' }),
    disk_free_bytes: bytes,
    disk_total_bytes: bytes,
    last_backup: z
      .object({
        at: time,
        messages: count,
        files: count,
        bytes,
        encrypted: z.boolean(),
      })
      .nullable()
      .meta({
        description: 'the last `parley backup` that the audit log knows. Backups made in another way are not known',
      }),
    backup_failing: z.boolean().meta({
      description:
        'whether the last scheduled backup (`PARLEY_BACKUP_EVERY`) of the server that responds failed, and none was made since. Its log says why: `background_job_failed`',
    }),
    backup_command: z.string().meta({
      description:
        'a command that makes a backup, for a shell on the machine of the server that responds, in its folder and with its settings',
    }),
  })
  .meta({ id: 'ServiceStatus' });

export type MetricSample = z.output<typeof metricSample>;
export type ChatUse = z.output<typeof chatUse>;
export type PersonUse = z.output<typeof personUse>;
export type AuditEntry = z.output<typeof auditEntry>;
export type Setting = z.output<typeof setting>;
export type ServiceStatus = z.output<typeof serviceStatus>;
