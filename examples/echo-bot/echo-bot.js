// @ts-check
// Repeats each message in a direct chat or group that mentions the bot, as in "@echo hello".
//
//   PARLEY_URL=http://127.0.0.1:8080 PARLEY_TOKEN=pat_… node echo-bot.js
//
// With WEBHOOK_SECRET it receives webhooks on PORT instead of following the stream.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createClient } from '@parley-chat/sdk';
import { bot } from '@parley-chat/sdk/bot';

const { PARLEY_URL = 'http://127.0.0.1:8080', PARLEY_TOKEN = '', WEBHOOK_SECRET = '', PORT = '3000' } = process.env;
const stateFile = process.env.STATE_FILE ?? 'echo-bot.json';

/** @type {import('@parley-chat/sdk/bot').BotStore} */
const store = {
  load: async () => {
    const text = await readFile(stateFile, 'utf8').catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
    return text === undefined ? undefined : JSON.parse(text);
  },
  // A crash leaves the old file or the new one, and never half of one.
  save: async (state) => {
    await writeFile(`${stateFile}.new`, JSON.stringify(state));
    await rename(`${stateFile}.new`, stateFile);
  },
};

const echo = bot({
  client: createClient({ url: PARLEY_URL, token: PARLEY_TOKEN }),
  store,
  onMention: (message) => message.reply(message.withoutMention || 'What shall I say?'),
  onError: console.error,
});

if (WEBHOOK_SECRET === '') await followStream();
else receiveWebhooks();

async function followStream() {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());
  await echo.run({
    signal: stopping.signal,
    onOpen: () => console.log('Connected'),
    onBreak: ({ message }, pauseMs) => console.log(`${message} Next attempt in ${Math.round(pauseMs / 1_000)} s.`),
    onExpired: ({ message }) => console.log(`Messages were missed: ${message}`),
  });
}

function receiveWebhooks() {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const { method = 'GET', headers } = incoming;
      const body = method === 'POST' ? /** @type {ReadableStream} */ (Readable.toWeb(incoming)) : null;
      const request = new Request(`http://${headers.host}${incoming.url}`, {
        method,
        headers: /** @type {Record<string, string>} */ (headers),
        body,
        // Node needs this for a body that is a stream.
        ...{ duplex: 'half' },
      });
      const response = await echo.receive(request, WEBHOOK_SECRET);
      outgoing.writeHead(response.status).end(await response.text());
    } catch (error) {
      // Parley delivers the event again later.
      console.error(error);
      outgoing.writeHead(500).end();
    }
  });
  server.listen(Number(PORT), '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') console.log(`Listening on http://127.0.0.1:${address.port}`);
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
}
