import { createHash } from 'node:crypto';
import { may, refusals } from '@parley/server/domain/policy.ts';
import { ApiError, type Client, type ClientInput, type ClientOutput } from '@parley-chat/sdk';
import type { Connection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { plainLine } from '../failure.ts';
import { type Uploaded, type UploadOptions, upload } from './upload.ts';

type Sent = ClientOutput<'messages.send_message'>;
type Message = Pick<ClientInput<'messages.send_message'>, 'chat_id' | 'content' | 'reply_to'>;

/** Uploads a file and sends it to a chat. */
export async function sendFile(
  connection: Connection,
  path: string,
  message: Message,
  options: UploadOptions,
  context: CommandContext,
): Promise<Sent> {
  const { client } = connection;
  await checkChat(client, message.chat_id);
  return upload(connection, path, options, context, (uploaded) => send(client, message, uploaded));
}

/** Fails before a large file is uploaded in vain. A token without the scope skips the check. */
async function checkChat(client: Client, chat_id: number): Promise<void> {
  try {
    const { chat } = await client.chats.get({ chat_id });
    if (chat.role === null) throw new Error(refusals.read);
    if (!may('send', chat.type, chat.role)) throw new Error(refusals.send);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'insufficient_scope')) throw error;
  }
}

async function send(client: Client, message: Message, { fileId, uploadId, retrier }: Uploaded): Promise<Sent> {
  const input = { ...message, file_id: fileId };
  try {
    return await retrier.call((signal) =>
      client.messages.send_message(input, { idempotencyKey: keyFor(input, uploadId), signal }),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Error(`${plainLine(error)} (The file is uploaded. Send it with --file-id ${fileId}.)`);
  }
}

/** The same key in each run, so that the message is sent once even if an earlier run sent it before it was stopped. */
const keyFor = (input: Message, uploadId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([uploadId, input.chat_id, input.content, input.reply_to]))
    .digest('hex');
