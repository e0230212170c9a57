import { fileName } from '@parley/contract';
import { bytesText } from '../bytes.ts';
import type { Connection } from '../connection.ts';
import type { Environment } from '../context.ts';
import { type Progress, Retrier } from '../retrier.ts';
import type { Transfer } from '../transfer.ts';
import { FileChanged, type LocalFile } from './local-file.ts';
import { takeSession, type UploadSession } from './session.ts';
import { sendRest, UploadGone } from './tus.ts';

/** Generous for slow networks, and for the server to process the whole of a large file. */
const limits = { silenceMs: 120_000, outageMs: 15 * 60_000 };

export interface UploadOptions {
  readonly connection: Connection;
  readonly userId: number;
  readonly file: LocalFile;
  readonly name: string;
  readonly transfer: Transfer;
  readonly env: Environment;
}

export interface Uploaded {
  readonly fileId: number;
  /** Differs for each upload, and stays the same when it resumes. */
  readonly uploadId: string;
  readonly retrier: Retrier;
}

/** Uploads a file, resuming an earlier run, and passes it to `use`. If `use` fails, the next run finds the file uploaded. */
export async function upload<T>(options: UploadOptions, use: (uploaded: Uploaded) => Promise<T>): Promise<T> {
  const { connection, userId, file, name, env } = options;
  checkName(name);
  const { path, size, modified } = file;
  const session = await takeSession({ server: connection.server, user_id: userId, path, size, modified, name }, env);
  try {
    const retrier = new Retrier(options.transfer, limits);
    const fileId = await finish(options, session, retrier);
    const result = await use({ fileId, uploadId: session.id ?? '', retrier });
    session.forget();
    return result;
  } catch (error) {
    if (error instanceof FileChanged) session.forget();
    throw error;
  } finally {
    await session.release();
  }
}

function checkName(name: string): void {
  const fault = fileName.safeParse(name).error?.issues[0];
  if (fault) throw new Error(`The name of the file ${fault.message}. Choose another one with --name.`);
}

async function finish(options: UploadOptions, session: UploadSession, retrier: Retrier): Promise<number> {
  const { transfer } = options;
  transfer.isResumable = session.isResumed;
  try {
    return await send(options, session, retrier);
  } catch (error) {
    if (!(error instanceof UploadGone)) throw error;
    session.forget();
    transfer.isResumable = false;
    await transfer.say('The server no longer has the partial upload. Starting over.');
    return send(options, session, retrier);
  }
}

function send(
  { connection, file, name, transfer }: UploadOptions,
  session: UploadSession,
  retrier: Retrier,
): Promise<number> {
  let furthest = -1;
  const arrived = (bytes: number, progress: Progress) => {
    if (session.isResumed && furthest < 0 && bytes > 0) sayPosition(bytes, file.size, transfer);
    if (bytes > furthest) progress.advanced();
    furthest = Math.max(bytes, furthest);
    transfer.isResumable = true;
  };
  return retrier.call((signal, progress) =>
    sendRest({
      connection,
      file,
      name,
      session,
      signal,
      sent: (bytes) => {
        progress.alive();
        transfer.show(bytes, file.size);
      },
      arrived: (bytes) => arrived(bytes, progress),
    }),
  );
}

function sayPosition(bytes: number, size: number, transfer: Transfer): void {
  const line =
    bytes === size ? 'The file is already uploaded.' : `Resuming at ${bytesText(bytes)} of ${bytesText(size)}.`;
  // A line that cannot be written does not stop the upload.
  transfer.say(line).catch(() => {});
}
