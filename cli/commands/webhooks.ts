import { type Delivery, type EventName, eventNames, type Warning } from '@parley/contract';
import { program } from '@parley/server/lib/program.ts';
import type { ClientOutput } from '@parley-chat/sdk';
import { chatReference, idOf } from '../chat-reference.ts';
import { defineCommand, type Read, UsageError } from '../command.ts';
import { confirm } from '../confirm.ts';
import { openConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { chatTitles } from '../lookups.ts';
import { hint, lines, localTime, oneLine, print, printJson } from '../output.ts';
import { chooseSecret, secretOptions } from '../secret.ts';
import { printRecord, printTable } from '../table.ts';
import { connection, cursor, httpUrl, json, positive, list as words, yes } from '../values.ts';
import { adviceOn, attemptText, lastAttempt } from '../webhooks/attempt-text.ts';
import { failingOf } from '../webhooks/failing.ts';
import { behindText, eventsText, failureText, stateLine } from '../webhooks/webhook-text.ts';

export const webhookId = { summary: 'The id that webhooks list shows.', read: positive } as const;

const eventName: Read<EventName> = (typed) => {
  const name = eventNames.find((one) => one === typed);
  if (name === undefined) throw new Error(`one of ${eventNames.join(', ')}`);
  return name;
};

const events = { value: 'a,b', summary: 'The names of the events. Defaults to all (*).', read: words } as const;

export const list = defineCommand({
  arguments: {},
  options: {
    limit: { value: 'number', summary: 'The maximum number of webhooks. Defaults to 50.', read: positive },
    after: { value: 'webhook_id', summary: 'Only webhooks after this one.', read: cursor },
    json,
    ...connection,
  },
  notes: `"behind" is the age of the oldest event that is not delivered. A login sees only webhooks that a
login registered. An access token sees those of access tokens and of the browser.`,
  prints: 'webhooks.list',
  async run(_, { limit, after, json, ...where }, context) {
    const { client, access } = openConnection(where, context);
    const page = await client.webhooks.list({ limit, after_id: after });
    if (json) return printJson(context, page);
    if (page.webhooks.length === 0) {
      // An app sees only its own webhooks, and the command line is an app.
      const others =
        access.by === 'login' ? ' To see those of access tokens and of the browser, set PARLEY_TOKEN.' : '';
      return hint(context, `No webhooks.${others}`);
    }
    const failing = await failingOf(client, page.webhooks);
    await printTable(context, [
      ['id', 'status', 'behind', 'chat', 'URL', 'events'],
      ...page.webhooks.map((webhook) => [
        String(webhook.webhook_id),
        failureText(webhook, failing.get(webhook.webhook_id)),
        behindText(webhook),
        webhook.chat_id === null ? 'all' : String(webhook.chat_id),
        oneLine(webhook.url),
        eventsText(webhook),
      ]),
    ]);
    if (page.has_more) await hint(context, `There are more: --after ${page.webhooks.at(-1)?.webhook_id}`);
    const [first] = failing.keys();
    if (first !== undefined) await hint(context, `What to do: ${program} webhooks show ${first}`);
  },
});

export const show = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: { json, ...connection },
  async run({ 'webhook id': webhook_id }, { json, ...where }, context) {
    const { client } = openConnection(where, context);
    const { webhook } = await client.webhooks.get({ webhook_id });
    if (json) return printJson(context, { webhook });
    const { env } = context;
    const health = (await failingOf(client, [webhook])).get(webhook_id);
    const failing = health?.last_failure;
    const { chat_id, service_wide, include_direct, previous_secret_until, expired_count } = webhook;
    const everywhere = `all of the service, ${include_direct ? 'direct ones included' : 'without direct ones'}`;
    const chats = service_wide ? everywhere : 'all of yours';
    await printRecord(context, [
      ['webhook', String(webhook_id)],
      ['URL', oneLine(webhook.url)],
      ['status', stateLine(webhook, health, env)],
      ['behind', behindText(webhook)],
      ...(failing ? failureRows(failing) : []),
      ['events', eventsText(webhook)],
      ...(webhook.unknown_events.length > 0 ? [['unknown', oneLine(webhook.unknown_events.join(','))]] : []),
      ['chats', chat_id === null ? chats : oneLine(await chatTitles(client, webhook.user_id).of(chat_id))],
      ...(expired_count > 0 ? [['expired', `${expired_count.toLocaleString('en')} before they were delivered`]] : []),
      ...(previous_secret_until === null ? [] : [['old secret', `until ${localTime(previous_secret_until, env)}`]]),
      ['created', localTime(webhook.created_at, env)],
    ]);
  },
});

/** Says why deliveries fail, by the newest that does. */
function failureRows(failing: Delivery): string[][] {
  const result = lastAttempt(failing);
  const advice = adviceOn(result);
  return [
    ['last error', `${attemptText(result)}. See: ${program} webhooks delivery ${failing.delivery_id}`],
    ...(advice === '' ? [] : [['advice', advice]]),
  ];
}

export const create = defineCommand({
  arguments: { URL: { summary: 'The endpoint, such as https://example.com/hook.', read: httpUrl } },
  options: {
    events,
    chat: { value: 'chat', summary: 'Only events of this chat. Defaults to all your chats.', read: chatReference },
    ...secretOptions,
    json,
    ...connection,
  },
  notes: `It ends with the access token or the login that registered it. An administrator registers one for the whole service
in the browser.`,
  async run({ URL: url }, { events = ['*'], chat, json, ...options }, context) {
    const { client } = openConnection(options, context);
    const { secret, isNew } = await chooseSecret(options, context);
    const created = await client.webhooks.register({
      url: url.href,
      events,
      secret,
      chat_id: await idOf(client, chat),
    });
    if (json) return printJson(context, { ...created, ...(isNew && { secret }) });
    const { webhook_id } = created.webhook;
    await print(context, `webhook_id=${webhook_id}`, ...(isNew ? [`secret=${secret}`] : []));
    if (isNew) await hint(context, 'The secret is shown only once.');
    await warn(created.warnings, context);
    await hint(context, `Test it: ${program} webhooks test ${webhook_id}`);
  },
});

/** Shows what the server accepted although it is probably a mistake. */
async function warn(warnings: readonly Warning[], context: CommandContext): Promise<void> {
  for (const { field, message } of warnings) await hint(context, oneLine(`Warning: ${field}: ${message}`));
}

export const update = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: {
    'new-url': { value: 'url', summary: 'The new endpoint. Its deliveries are due at once.', read: httpUrl },
    events: { ...events, summary: 'The names of the events from now on, or * for all.' },
    json,
    ...connection,
  },
  prints: 'webhooks.update',
  async run({ 'webhook id': webhook_id }, { 'new-url': url, events, json, ...where }, context) {
    if (url === undefined && events === undefined) throw new UsageError('Give --new-url, --events or both.');
    const { client } = openConnection(where, context);
    const changed = await client.webhooks.update({ webhook_id, url: url?.href, events });
    if (json) return printJson(context, changed);
    const { webhook, warnings } = changed;
    await print(context, `Webhook ${webhook_id}: ${oneLine(webhook.url)}, events: ${eventsText(webhook)}.`);
    await warn(warnings, context);
  },
});

export const test = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: {
    event: {
      value: 'name',
      summary: 'Send an example of this event. Defaults to an event named "test".',
      read: eventName,
    },
    'event-id': { value: 'event_id', summary: 'Send the exact body of this past event.', read: positive },
    json,
    ...connection,
  },
  notes: `It sends a test now, also to a paused webhook, and waits for the response. The exit code is 1 if that is not a 2xx.
The id of the request starts with "test-".`,
  prints: 'webhooks.test',
  async run({ 'webhook id': webhook_id }, { event, 'event-id': event_id, json, ...where }, context) {
    if (event !== undefined && event_id !== undefined) throw new UsageError('Give either --event or --event-id.');
    const { client } = openConnection(where, context);
    const result = await client.webhooks.test({ webhook_id, event, event_id });
    const { delivered, attempt } = result;
    if (json) await printJson(context, result);
    else if (delivered) await print(context, `Delivered: ${attemptText(attempt)}.`);
    else if (attempt.answer) await print(context, 'Response:', ...lines(attempt.answer).map((line) => `  ${line}`));
    if (!delivered) throw new Error(`Not delivered: ${attemptText(attempt)}. ${adviceOn(attempt)}`.trim());
  },
});

type Updated = ClientOutput<'webhooks.update'>['webhook'];

const statusCommand = (status: 'active' | 'paused', notes: string, said: (webhook: Updated) => string) =>
  defineCommand({
    arguments: { 'webhook id': webhookId },
    options: { json, ...connection },
    notes,
    prints: 'webhooks.update',
    async run({ 'webhook id': webhook_id }, { json, ...where }, context) {
      const changed = await openConnection(where, context).client.webhooks.update({ webhook_id, status });
      if (json) return printJson(context, changed);
      await print(context, said(changed.webhook));
    },
  });

export const pause = statusCommand(
  'paused',
  'Events wait until it is resumed, as long as the event log keeps them.',
  ({ webhook_id }) => `Paused webhook ${webhook_id}. Events wait until: ${program} webhooks resume ${webhook_id}`,
);

export const resume = statusCommand(
  'active',
  'Events that waited are delivered in order.',
  ({ webhook_id, oldest_undelivered_age: age }) =>
    `Webhook ${webhook_id} is active.${age === null ? '' : ' The events that waited are delivered now, in order.'}`,
);

export const rotate = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: { ...secretOptions, yes, json, ...connection },
  notes: `X-Webhook-Signature uses the new secret at once. For 24 hours webhook-signature also has a signature with the old one.
Parley never shows the old secret again, so the command asks for confirmation.`,
  async run({ 'webhook id': webhook_id }, { yes, json, ...options }, context) {
    const { client } = openConnection(options, context);
    if (!yes) {
      // Asked about its URL, so that a wrong id is noticed.
      const { webhook } = await client.webhooks.get({ webhook_id });
      await confirm(`Rotate the secret of webhook ${webhook_id} (${oneLine(webhook.url)})?`, { yes }, context);
    }
    const { secret, isNew } = await chooseSecret(options, context);
    const rotated = await client.webhooks.rotateSecret({ webhook_id, secret });
    if (json) return printJson(context, { ...rotated, ...(isNew && { secret }) });
    if (isNew) await print(context, `secret=${secret}`);
    else await print(context, `Rotated the secret of webhook ${webhook_id}.`);
    if (isNew) await hint(context, 'The secret is shown only once.');
    const { previous_secret_until: until } = rotated.webhook;
    if (until !== null) {
      await hint(
        context,
        `webhook-signature also has a signature with the old secret until ${localTime(until, context.env)}.`,
      );
    }
    await warn(rotated.warnings, context);
  },
});

export const remove = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: { yes, json, ...connection },
  prints: 'webhooks.delete',
  notes: 'Events that are not delivered are skipped. It asks for confirmation.',
  async run({ 'webhook id': webhook_id }, { yes, json, ...where }, context) {
    const { client } = openConnection(where, context);
    if (!yes) {
      const { webhook } = await client.webhooks.get({ webhook_id });
      const loss = webhook.oldest_undelivered_age === null ? '' : ' It has undelivered events.';
      await confirm(`Delete webhook ${webhook_id} (${oneLine(webhook.url)})?${loss}`, { yes }, context);
    }
    const deleted = await client.webhooks.delete({ webhook_id });
    if (json) return printJson(context, deleted);
    await print(context, `Deleted webhook ${webhook_id}.`);
  },
});
