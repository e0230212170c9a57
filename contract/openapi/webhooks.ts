import { z } from 'zod';
import { events } from '../events.ts';
import { time, webhookId } from '../fields.ts';
import { type WebhookHeader, webhookHeaders } from '../webhook-headers.ts';
import { pascalCase } from './names.ts';
import { type Json, type Schemas, schemaOf } from './schemas.ts';

/** Not that of the operations on webhooks: a generator would write both into one file. */
export const deliveriesTag = { name: 'deliveries', description: 'The requests that a webhook receives.' };

/** Returns the deliveries that a webhook receives, by the name of their event. */
export function describeWebhooks(schemas: Schemas): Json {
  return Object.fromEntries(
    Object.entries({ ...events, test }).map(([name, { when, data }]) => [
      name,
      { post: delivery(name, when, data, schemas) },
    ]),
  );
}

/** Not an event of the log: only `webhooks.test` sends it. */
const test = {
  when: 'you call `webhooks.test`',
  data: z.object({ webhook_id: webhookId.nullable(), message: z.string() }),
};

function delivery(name: string, when: string, data: z.ZodType, schemas: Schemas): Json {
  const body = z.object({ event: z.enum([name]), timestamp: time, data });
  const schema = schemas.add(`${pascalCase(name)}Event`, schemaOf(body, 'output'));
  return {
    operationId: `on${pascalCase(name)}`,
    tags: [deliveriesTag.name],
    summary: `Receive \`${name}\``,
    description: `Sent when ${when}. Verify \`webhook-signature\` with the secret of the webhook before you use the body.`,
    security: [],
    parameters: Object.keys(webhookParameters).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'The event is delivered.' },
      '410': { description: 'The endpoint is gone. Parley disables the webhook.' },
      default: { description: 'The delivery has failed. Parley retries it.' },
    },
  };
}

const optionalHeaders: ReadonlySet<string> = new Set<WebhookHeader>(['X-Webhook-Registration', 'X-Webhook-Replay']);

/** The headers of a delivery as parameters of the document. */
export const webhookParameters: Json = Object.fromEntries(
  Object.entries(webhookHeaders).map(([name, description]) => [
    name,
    { name, in: 'header', description, required: !optionalHeaders.has(name), schema: { type: 'string' } },
  ]),
);
