// A receiver for Parley webhooks. Run: WEBHOOK_SECRET='a secret of yours' PORT=3000 npx bun examples/receivers/receiver.ts
import { createServer, type IncomingMessage } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from '@parley-chat/sdk/webhook';

const secret = process.env.WEBHOOK_SECRET ?? '';
if (secret === '') throw new Error('WEBHOOK_SECRET is not set');

const bodyLimit = 1_048_576;
const remembered = 10_000;

// In production, store the ids in your database, in the same transaction as the work that each event causes.
const seen = new Set<string>();

function isNew(id: string): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  for (const oldest of seen) {
    if (seen.size <= remembered) break;
    seen.delete(oldest);
  }
  return true;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= bodyLimit) parts.push(part);
  }
  return size <= bodyLimit ? Buffer.concat(parts) : undefined;
}

async function receive(request: IncomingMessage): Promise<[status: number, text: string]> {
  if (request.method !== 'POST') return [405, 'POST only'];
  const body = await readBody(request);
  if (body === undefined) return [413, 'too large'];
  try {
    const event = await verifyWebhook(body, request.headers, secret);
    // Put slow work into a queue: Parley waits 15 seconds for the response.
    if (isNew(event.id)) console.log(event.id, event.event, JSON.stringify(event.data));
    return [200, 'ok'];
  } catch (error) {
    if (error instanceof WebhookVerificationError) return [401, error.message];
    throw error;
  }
}

const server = createServer((request, response) => {
  receive(request).then(
    ([status, text]) => response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text),
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`Listening on http://127.0.0.1:${address.port}`);
});
