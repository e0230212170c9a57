import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@parley-chat/sdk/webhook.ts';
import { defineCommand, requireEventField } from '../command.ts';
import { jsonLine, jsonLines, oneLine } from '../output.ts';
import { runUntilSignal, type Task } from '../signals.ts';
import { styleFor } from '../style.ts';
import { settleWithin } from '../timeout.ts';
import { UsageError } from '../usage-error.ts';
import { positive, text } from '../values.ts';

export const receive = defineCommand({
  arguments: {},
  options: {
    secret: { value: 'text', summary: 'The secret of the webhook. Required.', read: text },
    port: {
      value: 'number',
      summary: 'The port to listen on, on this machine only. Defaults to 3000.',
      read: positive,
    },
    count: { value: 'number', summary: 'Stop after so many deliveries.', read: positive },
    json: { summary: 'Print each event as one line of JSON.' },
  },
  notes: `It is an endpoint to try webhooks with: it verifies the signature of each delivery, prints the event, and responds with 200,
or with 401 if the delivery is not authentic. It runs until you stop it (Ctrl-C). The server may send to this machine
if PARLEY_WEBHOOK_NETWORKS allows it, or if it runs here.`,
  async run(_, { secret, port = 3_000, count = Number.POSITIVE_INFINITY, json }, context) {
    if (!secret) throw new UsageError('--secret is missing.');
    await requireEventField('id', context);
    const style = styleFor(context.stdout, context.env);
    const format = (event: WebhookEvent): string[] =>
      json
        ? jsonLines(context, event)
        : [`${style('green', 'verified')}  ${oneLine(event.event)}  ${jsonLine(event.data)}`];
    await runUntilSignal(context, (task) => receiveUntil(task, { secret, port, count, format }));
  },
});

/** Limits the wait for a sender that has not read the last response. */
const lingerMs = 1_000;

/** No connection stays open, so that the end does not wait for one. */
const respond = (status: number, text: string) =>
  new Response(`${text}\n`, { status, headers: { connection: 'close' } });

interface Receiving {
  readonly secret: string;
  readonly port: number;
  readonly count: number;
  readonly format: (event: WebhookEvent) => string[];
}

/** Resolves after `count` deliveries, or when the task is stopped. */
async function receiveUntil(task: Task, { secret, port, count, format }: Receiving): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  task.signal.addEventListener('abort', () => end());
  let received = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      if (request.method !== 'POST') return respond(405, 'Send a webhook here, by POST.');
      try {
        const event = await verifyWebhook(await request.bytes(), request.headers, secret);
        await task.print(...format(event));
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        await task.say(oneLine(`Rejected: ${error.message}`));
        return respond(401, error.message);
      }
      if (++received >= count) end();
      return respond(200, 'ok');
    },
  });
  await task.say(`Waiting for webhooks at http://127.0.0.1:${server.port}. Press Ctrl-C to stop.`);
  await ended;
  await settleWithin(task.clock, lingerMs, server.stop());
  await server.stop(true);
}
