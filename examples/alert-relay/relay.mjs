// Posts alerts into a chat: those of Prometheus Alertmanager (POST /alertmanager), or any text (POST /text).
// It needs Node 20 or newer and nothing else. README.md says how to run it.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** Returns a setting. Ends the process if it is missing. */
function setting(name, fallback) {
  const value = process.env[name] ?? fallback;
  if (value) return value;
  console.error(`${name} is not set.`);
  process.exit(1);
}

const api = `${setting('PARLEY_URL', 'http://127.0.0.1:8080').replace(/\/+$/, '')}/api`;
const token = setting('PARLEY_TOKEN');
const chatId = Number(setting('CHAT_ID'));
const relayToken = setting('RELAY_TOKEN');

if (!Number.isSafeInteger(chatId)) {
  console.error('CHAT_ID must be a number.');
  process.exit(1);
}

const maxBodyBytes = 1_048_576;
/** A message has at most 16,384 bytes. A character of a JavaScript string has at most three. */
const maxCharacters = 5_000;
const retryDelaysMs = [500, 2_000];

/** The statuses of Parley that blame the text. The same text is never accepted later. */
const textStatuses = [400, 413, 422];

/** An error with the status of the response. */
class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const digest = (text) => createHash('sha256').update(text).digest();

function authorize({ headers }) {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  // Hashes have equal lengths, which the comparison needs.
  if (!timingSafeEqual(digest(given), digest(relayToken))) {
    throw new Refusal(401, 'Send the value of RELAY_TOKEN as a bearer token.');
  }
}

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > maxBodyBytes) throw new Refusal(413, 'The body is larger than 1 MiB.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Returns one line for each alert of a notification. Throws if a field has another type than Alertmanager sends. */
const alertLines = ({ alerts }) =>
  alerts.map(({ status, labels = {}, annotations = {} }) => {
    const { alertname = 'Alert', severity, instance } = labels;
    const state = status === 'resolved' ? '✅ resolved' : `🔥 ${severity ?? 'firing'}`;
    const place = instance === undefined ? '' : ` on ${instance}`;
    const summary = annotations.summary ?? annotations.description;
    return `${state}: ${alertname}${place}${summary === undefined ? '' : `: ${summary}`}`;
  });

function alertText(body) {
  try {
    return alertLines(JSON.parse(body)).join('\n');
  } catch (error) {
    throw new Refusal(400, `The body is not a notification of Alertmanager: ${error.message}`);
  }
}

/** The text of the message for each path. */
const texts = {
  '/alertmanager': alertText,
  '/text': (body) => body,
};

const shorten = (text) => (text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`);

/** Sends the message. All attempts have the same Idempotency-Key, so that they send one message. */
async function send(content) {
  const request = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ chat_id: chatId, content }),
  };
  for (const delayMs of [...retryDelaysMs, undefined]) {
    try {
      const response = await fetch(`${api}/messages.php?action=send_message`, {
        ...request,
        signal: AbortSignal.timeout(10_000),
      });
      if (response.ok) return;
      const { error } = await response.json();
      const isTemporary = response.status === 429 || response.status >= 500;
      // Alertmanager repeats a notification after a 5xx only.
      const status = textStatuses.includes(response.status) ? 422 : 502;
      if (!isTemporary) throw new Refusal(status, `Parley refused the message: ${error.message}`);
      console.error(`Parley responded with ${response.status}: ${error.message}`);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      console.error(`Parley cannot be reached: ${error.cause?.message ?? error.message}`);
    }
    // Alertmanager sends the notification again after a 503.
    if (delayMs === undefined) throw new Refusal(503, 'Parley is unavailable.');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

async function relay(request) {
  const textOf = texts[request.url.split('?')[0]];
  if (textOf === undefined) throw new Refusal(404, 'There are /alertmanager and /text.');
  if (request.method !== 'POST') throw new Refusal(405, 'Use POST.');
  authorize(request);
  const text = textOf(await readBody(request)).trim();
  if (text === '') throw new Refusal(400, 'There is nothing to send.');
  await send(shorten(text));
}

const server = createServer(async (request, response) => {
  try {
    await relay(request);
    response.writeHead(200, { 'content-type': 'text/plain' }).end('sent\n');
  } catch (error) {
    const { status = 500, message } = error;
    console.error(`${request.method} ${request.url}: ${status} ${message}`);
    const close = request.complete ? {} : { connection: 'close' };
    response
      .writeHead(status, { 'content-type': 'text/plain', ...close })
      .end(`${status === 500 ? 'error' : message}\n`);
  }
});

server.listen(Number(process.env.PORT ?? 3100), process.env.HOST ?? '127.0.0.1', () => {
  const { address, port } = server.address();
  console.log(`Listening on http://${address}:${port}`);
});
