import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

const { PARLEY_API = '', PARLEY_TOKEN = '', CHAT_ID = '', CLIENT = '', HOOK_URL = '' } = process.env;
const chat_id = Number(CHAT_ID);
const client = createClient<paths>({ baseUrl: PARLEY_API, headers: { authorization: `Bearer ${PARLEY_TOKEN}` } });
const content = `The file of ${CLIENT}\n`;
let uploaded = 0;

async function step(name: string, run: () => Promise<boolean>): Promise<void> {
  const outcome = await run().then(
    (isRight) => (isRight ? 'ok' : 'the response is not the expected one'),
    (error: unknown) => String(error),
  );
  console.log(`${name}\t${outcome}`);
}

await step('send', async () => {
  const body = { chat_id, content: `Hello from ${CLIENT}` };
  const { data } = await client.POST('/messages/send_message', { body });
  return data?.message.content === body.content && data.message.edited_at === null;
});

await step('list', async () => {
  const { data } = await client.GET('/chats/list', { params: { query: { scope: 'mine', limit: 10 } } });
  return data?.chats.some((chat) => chat.chat_id === chat_id) === true;
});

await step('upload', async () => {
  const { data } = await client.POST('/files/upload', {
    body: { file: content, name: 'plan.txt' },
    bodySerializer: ({ file, name }) => {
      const form = new FormData();
      form.append('name', name ?? '');
      form.append('file', new Blob([file]), name);
      return form;
    },
  });
  uploaded = data?.file.file_id ?? 0;
  return data?.file.name === 'plan.txt';
});

await step('download', async () => {
  const params = { query: { file_id: uploaded } };
  const { data } = await client.GET('/files/download', { params, parseAs: 'text' });
  return data === content;
});

await step('webhook', async () => {
  const body = { url: HOOK_URL, events: ['new_message'], secret: 'a secret of sixteen' };
  const { data } = await client.POST('/webhooks/register', { body });
  return data?.webhook.status === 'active';
});

await step('error', async () => {
  const { error, response } = await client.GET('/chats/get', { params: { query: { chat_id: 999_999 } } });
  return response.status === 404 && error?.error.code === 'not_found';
});
