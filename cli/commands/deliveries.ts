import { type DeliveryState, deliveryStates } from '@parley/contract';
import { program } from '@parley/server/lib/program.ts';
import type { Client, ClientOutput } from '@parley-chat/sdk';
import { chatReference, idOf } from '../chat-reference.ts';
import { defineCommand, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import type { Environment } from '../context.ts';
import { requireKnown } from '../known.ts';
import { chatTitles } from '../lookups.ts';
import { hint, lines, localSecond, oneLine, print, printJson } from '../output.ts';
import { printRecord, printTable } from '../table.ts';
import { connection, json, moment, positive, text } from '../values.ts';
import { adviceOn, attemptText, lastAttempt, reasonText, resultText } from '../webhooks/attempt-text.ts';
import { webhookId } from './webhooks.ts';

type Delivery = ClientOutput<'webhooks.deliveries'>['deliveries'][number];

const deliveryId = { summary: 'The id that webhooks deliveries shows.', read: positive } as const;
const deliveryIds = { ...deliveryId, rest: true } as const;

const stateNames = Object.keys(deliveryStates) as DeliveryState[];

export const list = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: {
    state: { value: 'state', summary: `Only deliveries in this state: ${stateNames.join(', ')}.`, read: text },
    event: { value: 'name', summary: 'Only of events with this name.', read: text },
    chat: { value: 'chat', summary: 'Only of events of this chat.', read: chatReference },
    since: { value: 'time', summary: 'Only of events since a time (2026-01-31T12:00) or an age (2h).', read: moment },
    until: { value: 'time', summary: 'Only of events before a time or an age.', read: moment },
    replay: { value: 'replay_id', summary: 'Only those of this replay.', read: positive },
    limit: { value: 'number', summary: 'The maximum number of deliveries. Defaults to the newest 50.', read: positive },
    before: { value: 'delivery_id', summary: 'Only deliveries before this one.', read: positive },
    json,
    ...connection,
  },
  notes: 'The delivery of the newest event comes last.',
  async run({ 'webhook id': webhook_id }, { state, limit = 50, json, ...options }, context) {
    const { event, chat, since, until, replay: replay_id, before: before_id } = options;
    const stateName = state === undefined ? undefined : requireKnown('state', state, stateNames);
    const { client } = openConnection(options, context);
    const chat_id = await idOf(client, chat);
    const filters = {
      ...{ webhook_id, event, chat_id, since, until, replay_id, before_id },
      state: stateName,
    };
    const { deliveries, next } = await newest(client, filters, limit);
    if (json) return printJson(context, { deliveries, has_more: next !== null, next });
    if (deliveries.length === 0) return hint(context, 'No deliveries.');
    await printTable(context, [
      ['id', 'last attempt', 'state', 'event', 'chat', 'attempts', 'result'],
      ...deliveries.map((delivery) => cells(delivery, context.env)).reverse(),
    ]);
    if (next !== null) await hint(context, `There are more: --before ${next}`);
  },
});

type Filters = Parameters<Client['webhooks']['deliveries']>[0];

/** Returns the newest deliveries, in as many pages as it takes: a page with a rare filter may be short or empty. */
async function newest(client: Client, filters: Filters, limit: number) {
  const deliveries: Delivery[] = [];
  for await (const delivery of client.webhooks.deliveries.all({ ...filters, limit: Math.min(limit + 1, 200) })) {
    if (deliveries.length === limit) return { deliveries, next: deliveries.at(-1)?.delivery_id ?? null };
    deliveries.push(delivery);
  }
  return { deliveries, next: null };
}

const cells = (delivery: Delivery, env: Environment): string[] => [
  String(delivery.delivery_id),
  delivery.last_attempt_at === null ? '-' : localSecond(delivery.last_attempt_at, env),
  delivery.state,
  oneLine(delivery.event),
  delivery.chat_id === null ? '-' : String(delivery.chat_id),
  String(delivery.attempt_count),
  resultText(delivery, env),
];

export const show = defineCommand({
  arguments: { 'delivery id': deliveryId },
  options: { json, ...connection },
  notes: 'It shows the exact body, and the exact text that webhook-signature of the last attempt signs.',
  async run({ 'delivery id': delivery_id }, { json, ...where }, context) {
    const { env } = context;
    const { client } = openConnection(where, context);
    const { delivery } = await client.webhooks.delivery({ delivery_id });
    if (json) return printJson(context, { delivery });
    const { chat_id, state, body, signed_content, headers, replay_id } = delivery;
    const me = chat_id === null ? 0 : (await client.users.me()).user.user_id;
    const chat = chat_id === null ? '' : ` in ${await chatTitles(client, me).of(chat_id)}`;
    const next =
      delivery.next_attempt_at === null ? '' : ` The next attempt is at ${localSecond(delivery.next_attempt_at, env)}.`;
    const meaning = state === 'skipped' ? reasonText(delivery.reason) : deliveryStates[state];
    const failed = delivery.last_error === null ? '' : adviceOn(lastAttempt(delivery));
    await printRecord(context, [
      [
        'delivery',
        `${delivery_id} of webhook ${delivery.webhook_id}${replay_id === null ? '' : `, replay ${replay_id}`}`,
      ],
      ['event', oneLine(`${delivery.event} ${delivery.event_id}${chat}`)],
      ['state', `${state}: ${meaning}.${next}`],
      ...delivery.attempts.flatMap(({ number, at, answer, ...result }) => [
        [`attempt ${number}`, `${localSecond(at, env)}  ${attemptText(result)}`],
        ...(answer ? lines(answer).map((line) => ['', line]) : []),
      ]),
      ...(failed === '' ? [] : [['advice', failed]]),
      ...Object.entries(headers ?? {}).map(([name, value], i) => [
        i === 0 ? 'headers' : '',
        oneLine(`${name}: ${value}`),
      ]),
      ['body', body === null ? 'The event has expired.' : oneLine(body)],
      ...(signed_content === null ? [] : [['signed', oneLine(signed_content)]]),
    ]);
  },
});

export const redeliver = defineCommand({
  arguments: { 'delivery id': deliveryIds },
  options: { json, ...connection },
  notes: `An open delivery is due at once, in its turn. A settled one is sent once more; the exit code is 1 if the response is not
a 2xx. To send many: ${program} webhooks replay.`,
  async run({ 'delivery id': ids }, { json, ...where }, context) {
    requireSome(ids);
    const { client } = openConnection(where, context);
    const failed: Delivery[] = [];
    for (const delivery_id of ids) {
      const { delivery } = await client.webhooks.redeliver({ delivery_id });
      const isOpen = delivery.state === 'pending' || delivery.state === 'retrying';
      const result = attemptText(lastAttempt(delivery));
      const isDelivered = delivery.last_error === null;
      if (!isOpen && !isDelivered) failed.push(delivery);
      if (json) await printJson(context, { delivery });
      else if (isOpen) await print(context, `Delivery ${delivery_id} is due now.`);
      else await print(context, `Delivery ${delivery_id}: ${isDelivered ? 'delivered' : 'not delivered'}, ${result}.`);
    }
    const [first] = failed;
    if (!first) return;
    throw new Error(`Not delivered: ${failed.length} of ${ids.length}. ${adviceOn(lastAttempt(first))}`.trim());
  },
});

export const skip = defineCommand({
  arguments: { 'delivery id': deliveryIds },
  options: { json, ...connection },
  notes: `A delivery that is settled cannot be skipped. A skipped one can be sent later: ${program} webhooks redeliver.`,
  async run({ 'delivery id': ids }, { json, ...where }, context) {
    requireSome(ids);
    const { client } = openConnection(where, context);
    for (const delivery_id of ids) {
      const skipped = await client.webhooks.skip({ delivery_id });
      if (json) await printJson(context, skipped);
      else await print(context, `Skipped delivery ${delivery_id}.`);
    }
  },
});

function requireSome(ids: readonly number[]): void {
  if (ids.length === 0) throw new UsageError('<delivery id> is missing.');
}
