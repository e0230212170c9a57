import { fileName } from '@parley/contract';
import { connectionOf } from '@parley-chat/sdk/client.ts';
import { sendRest, UploadGone } from '@parley-chat/sdk/tus.ts';
import { bytesText } from '../bytes.ts';
import type { Connection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { Retrier } from '../retrier.ts';
import { type Transfer, type TransferOptions, transfer } from '../transfer.ts';
import { FileChanged, type LocalFile, openLocalFile } from './local-file.ts';
import { takeSession, type UploadSession } from './session.ts';
import { streamedSource } from './source.ts';

/** Generous for slow networks, and for the server to process the whole of a large file. */
const limits = { silenceMs: 120_000, outageMs: 15 * 60_000 };

export interface UploadOptions extends Omit<TransferOptions, 'verb'> {
  /** The name of the file on the server. Defaults to its own. */
  readonly name: string | undefined;
}

export interface Uploaded {
  readonly fileId: number;
  /** Differs for each upload, and stays the same when it resumes. */
  readonly uploadId: string;
  readonly retrier: Retrier;
}

/** Uploads a file, resuming an earlier run, and passes it to `use`. If `use` fails, the next run finds the file uploaded. */
export async function upload<T>(
  connection: Connection,
  path: string,
  options: UploadOptions,
  context: CommandContext,
  use: (uploaded: Uploaded) => Promise<T>,
): Promise<T> {
  await using file = await openLocalFile(path, context.cwd);
  const name = options.name ?? file.name;
  const fault = fileName.safeParse(name).error?.issues[0];
  if (fault) throw new Error(`The name of the file ${fault.message}. Choose another one with --name.`);
  const { user_id } = (await connection.client.users.me()).user;
  // An upload with another key, such as of a changed file or of another user, is another one.
  const { path: realPath, size, modified } = file;
  const key = { server: connection.server, user_id, path: realPath, size, modified, name };
  const session = await takeSession(key, context.env);
  try {
    return await transfer(context, { ...options, verb: 'Uploading' }, async (running) => {
      const retrier = new Retrier(running, limits);
      const fileId = await finish({ connection, file, name, session }, running, retrier);
      const result = await use({ fileId, uploadId: session.id ?? '', retrier });
      session.forget();
      return result;
    });
  } catch (error) {
    if (error instanceof FileChanged) session.forget();
    throw error;
  } finally {
    await session.release();
  }
}

interface Sent {
  readonly connection: Connection;
  readonly file: LocalFile;
  readonly name: string;
  readonly session: UploadSession;
}

async function finish(upload: Sent, transfer: Transfer, retrier: Retrier): Promise<number> {
  const { session } = upload;
  transfer.isResumable = session.isResumed;
  try {
    return await send(upload, transfer, retrier);
  } catch (error) {
    if (!(error instanceof UploadGone)) throw error;
    session.forget();
    transfer.isResumable = false;
    await transfer.say('The server no longer has the partial upload. Starting over.');
    return send(upload, transfer, retrier);
  }
}

function send({ connection, file, name, session }: Sent, transfer: Transfer, retrier: Retrier): Promise<number> {
  let furthest = -1;
  return retrier.call((signal, progress) => {
    const source = streamedSource(file, (bytes) => {
      progress.alive();
      transfer.show(bytes, file.size);
    });
    const arrived = (bytes: number) => {
      if (session.isResumed && furthest < 0 && bytes > 0) sayPosition(bytes, file.size, transfer);
      if (bytes > furthest) progress.advanced();
      furthest = Math.max(bytes, furthest);
      transfer.isResumable = true;
      transfer.show(bytes, file.size);
    };
    const sending = { connection: connectionOf(connection.client), source, name, session, signal, arrived };
    return sendRest(sending).catch((error) => {
      // A failure to read the file is reported unchanged.
      throw source.fault ?? error;
    });
  });
}

function sayPosition(bytes: number, size: number, transfer: Transfer): void {
  const line =
    bytes === size ? 'The file is already uploaded.' : `Resuming at ${bytesText(bytes)} of ${bytesText(size)}.`;
  // A line that cannot be written does not stop the upload.
  transfer.say(line).catch(() => {});
}
