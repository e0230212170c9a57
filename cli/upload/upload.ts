import { fileName } from '@parley/contract';
import { bytesText } from '../bytes.ts';
import type { Connection } from '../connection.ts';
import type { Environment } from '../context.ts';
import { Patience, type Signs } from '../patience.ts';
import type { Transfer } from '../transfer.ts';
import { KeptUpload } from './kept-upload.ts';
import { FileChanged, type LocalFile } from './local-file.ts';
import { UploadGone } from './refusal.ts';
import { sendRest } from './tus.ts';

/** The pieces on their way through slow networks take their time, and so does the server with the whole of a large file. */
const limits = { silenceMs: 120_000, absenceMs: 15 * 60_000 };

export interface Uploading {
  readonly connection: Connection;
  readonly userId: number;
  readonly file: LocalFile;
  readonly name: string;
  readonly transfer: Transfer;
  readonly env: Environment;
}

export interface Uploaded {
  readonly fileId: number;
  /** Another one for each upload, and the same however often it is gone on with. */
  readonly uploadId: string;
  readonly patience: Patience;
}

/**
 * Uploads a file, from where an earlier run has stopped, and has it used. Where that fails, the next run finds the file
 * uploaded.
 */
export async function upload<T>(uploading: Uploading, use: (uploaded: Uploaded) => Promise<T>): Promise<T> {
  const { connection, userId, file, name, transfer, env } = uploading;
  checkName(name);
  const { path, size, modified } = file;
  const key = { server: connection.server, user_id: userId, path, size, modified, name };
  const kept = await KeptUpload.take(key, env);
  try {
    const patience = new Patience(transfer, limits);
    const fileId = await finish(uploading, kept, patience);
    const result = await use({ fileId, uploadId: kept.id ?? '', patience });
    kept.forget();
    return result;
  } catch (error) {
    if (error instanceof FileChanged) kept.forget();
    throw error;
  } finally {
    await kept.release();
  }
}

function checkName(name: string): void {
  const fault = fileName.safeParse(name).error?.issues[0];
  if (fault) throw new Error(`The name of the file ${fault.message}. Give it another one with --name.`);
}

async function finish(uploading: Uploading, kept: KeptUpload, patience: Patience): Promise<number> {
  const { transfer } = uploading;
  transfer.isKept = kept.isOld;
  try {
    return await send(uploading, kept, patience);
  } catch (error) {
    if (!(error instanceof UploadGone)) throw error;
    kept.forget();
    transfer.isKept = false;
    await transfer.say('The server has dropped what was uploaded; beginning anew.');
    return send(uploading, kept, patience);
  }
}

function send(
  { connection, file, name, transfer }: Uploading,
  upload: KeptUpload,
  patience: Patience,
): Promise<number> {
  let furthest = -1;
  const arrived = (bytes: number, { further }: Signs) => {
    if (upload.isOld && furthest < 0 && bytes > 0) tellWhere(bytes, file.size, transfer);
    if (bytes > furthest) further();
    furthest = Math.max(bytes, furthest);
    transfer.isKept = true;
  };
  return patience.call((signal, signs) =>
    sendRest({
      connection,
      file,
      name,
      upload,
      signal,
      sent: (bytes) => {
        signs.alive();
        transfer.show(bytes, file.size);
      },
      arrived: (bytes) => arrived(bytes, signs),
    }),
  );
}

function tellWhere(bytes: number, size: number, transfer: Transfer): void {
  const where =
    bytes === size ? 'It was uploaded before.' : `Going on after ${bytesText(bytes)} of ${bytesText(size)}.`;
  // What cannot be said is no reason to fail.
  transfer.say(where).catch(() => {});
}
