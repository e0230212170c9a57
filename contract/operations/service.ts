import { z } from 'zod';
import { chatId, hasMore, pageLimit, searchText, timeInput, title, userId, userName } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { chatType, service } from '../records.ts';
import {
  auditEntry,
  chatUse,
  metricSample,
  namedApp,
  namedUser,
  personUse,
  serviceStatus,
  setting,
  useColumns,
} from '../service-records.ts';

const at = '2026-01-01T12:00:00.000Z';

/** A place in the list of people. Clients treat it as opaque. */
const useCursor = z
  .string()
  .regex(/^\d{1,15}\.\d{1,15}$/, 'must be `next` of a page')
  .meta({ description: '`next` of the page before' });

export const serviceOperations = (limits: Limits) => ({
  get: get(['chats:read'], {
    summary: 'Read what this service is called, and which chat new people join.',
    input: z.strictObject({}),
    output: z.object({ service }),
    errors: [],
    example: { input: {}, output: { service: { name: 'Parley', welcome_chat_id: null } } },
  }),
  update: post(['admin'], {
    summary: 'Name the service, and choose the chat that new people join. Fields that are left out stay as they are.',
    input: z.strictObject({
      name: title.optional(),
      welcome_chat_id: chatId.nullable().optional().meta({
        description:
          'a group or channel whose participants you manage; everybody who signs up from now on joins it. Null for none',
      }),
    }),
    output: z.object({ service }),
    errors: ['not_found', 'forbidden'],
    example: {
      input: { name: 'Lovelace Ltd', welcome_chat_id: 1 },
      output: { service: { name: 'Lovelace Ltd', welcome_chat_id: 1 } },
    },
  }),
  status: get(['admin'], {
    summary: 'Read the version, the sizes of the database and of all files, and when the last backup was made.',
    input: z.strictObject({}),
    output: z.object({ status: serviceStatus }),
    errors: [],
    example: {
      input: {},
      output: {
        status: {
          version: '0.1.0',
          started_at: at,
          database: 'sqlite',
          database_bytes: 602_112,
          files: 'data_folder',
          file_bytes: 81,
          disk_free_bytes: 52_613_349_376,
          disk_total_bytes: 105_089_261_568,
          last_backup: null,
          backup_failing: false,
          backup_command: 'npx parley backup "parley-$(date +%F-%H%M).backup"',
        },
      },
    },
  }),
  history: get(['admin'], {
    summary:
      'Read the metrics of the last hours, the oldest interval first. Intervals in which no server ran are left out.',
    input: z.strictObject({
      hours: z.int().min(1).max(48).default(24).meta({ description: 'how far back' }),
    }),
    output: z.object({
      interval_minutes: z.int().positive().meta({ description: 'the length of an interval: 1 up to 4 hours, else 5' }),
      samples: z.array(metricSample),
    }),
    errors: [],
    example: {
      input: {},
      output: {
        interval_minutes: 5,
        samples: [
          {
            at,
            messages: 0,
            people_online: 0,
            streams: 0,
            webhook_lag_ms: null,
            backlog: 0,
            disk_free_bytes: 52_613_349_376,
            disk_total_bytes: 105_089_261_568,
            requests: 0,
            server_errors: 0,
          },
        ],
      },
    },
  }),
  chats: get(['admin'], {
    summary: 'List all chats, the newest first, without anything of their messages.',
    input: z.strictObject({
      query: searchText.optional().meta({ description: 'only chats whose name contains the text' }),
      type: chatType.optional(),
      limit: pageLimit(limits.page),
      before_id: chatId.optional().meta({ description: 'the last id of the page before' }),
    }),
    output: z.object({ chats: z.array(chatUse), has_more: hasMore }),
    errors: [],
    example: {
      input: { query: 'launch' },
      output: {
        chats: [
          {
            chat_id: 1,
            type: 'group',
            visibility: 'private',
            name: 'Launch',
            participant_count: 3,
            message_count: 3,
            created_at: at,
            last_message_at: at,
          },
        ],
        has_more: false,
      },
    },
  }),
  use: get(['admin'], {
    summary: 'List all people with what they and their bots use, the largest use first.',
    input: z.strictObject({
      by: z.enum(useColumns).default('file_bytes').meta({ description: 'which use the order is by' }),
      limit: pageLimit(limits.page),
      after: useCursor.optional(),
    }),
    output: z.object({
      people: z.array(personUse),
      has_more: hasMore,
      next: useCursor.nullable().meta({ description: '`after` of the next page; null at the end' }),
    }),
    errors: [],
    example: {
      input: { limit: 1 },
      output: {
        people: [
          {
            user_id: 1,
            name: 'ada',
            disabled_at: null,
            file_bytes: 81,
            messages: 1,
            chats: 2,
            webhooks: 1,
            bots: 1,
          },
        ],
        has_more: true,
        next: '81.1',
      },
    },
  }),
  audit: get(['admin'], {
    summary: 'Read the audit log, the newest entries first.',
    input: z.strictObject({
      act: z
        .string()
        .regex(/^[a-z_]{1,40}$/, 'must be the name of an act')
        .optional()
        .meta({ description: 'only entries of this act, such as `signed_in`' }),
      user_id: userId.optional().meta({ description: 'only what this user did' }),
      user_name: userName.optional().meta({ description: 'the same, by name; only if `user_id` is absent' }),
      since: timeInput.optional(),
      until: timeInput
        .optional()
        .meta({ description: 'ISO 8601 with `Z` or an offset; entries at this time are left out' }),
      limit: pageLimit(limits.page),
      before_id: z.int().positive().optional().meta({ description: 'the last id of the page before' }),
    }),
    output: z.object({
      entries: z.array(auditEntry),
      users: z.array(namedUser).meta({ description: 'the users that the entries name by id, as they are called now' }),
      apps: z.array(namedApp).meta({ description: 'the same of apps' }),
      has_more: hasMore,
    }),
    errors: ['not_found'],
    example: {
      input: { act: 'invitation_created' },
      output: {
        entries: [
          {
            audit_id: 11,
            at,
            act: 'invitation_created',
            user_id: 1,
            app_id: null,
            address: '127.0.0.1',
            details: { note: 'For Grace' },
          },
        ],
        users: [{ user_id: 1, name: 'ada' }],
        apps: [],
        has_more: false,
      },
    },
  }),
  settings: get(['admin'], {
    summary: 'Read the settings of the server that responds, and where each comes from. Secrets are left out.',
    input: z.strictObject({
      name: z
        .string()
        .regex(/^[A-Z][A-Z0-9_]{0,60}$/, 'must be the name of an environment variable')
        .optional()
        .meta({ description: 'only this one' }),
    }),
    output: z.object({ settings: z.array(setting) }),
    errors: ['not_found'],
    example: {
      input: { name: 'PARLEY_AUDIT_DAYS' },
      output: {
        settings: [
          {
            name: 'PARLEY_AUDIT_DAYS',
            summary: 'Days that the audit log is kept.',
            value: '365',
            default: '365',
            secret: false,
            source: 'default',
          },
        ],
      },
    },
  }),
});
