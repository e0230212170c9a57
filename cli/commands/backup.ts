import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { operator, record } from '@parley/server/auth/audit.ts';
import { ArchiveWriter } from '@parley/server/backup/archive-writer.ts';
import { type BackupDeps, type BackupOutcome, backUp } from '@parley/server/backup/backup.ts';
import { completeUpTo } from '@parley/server/backup/counters.ts';
import { encryptTo } from '@parley/server/backup/encryption.ts';
import { keyToInclude } from '@parley/server/backup/key.ts';
import type { Settings } from '@parley/server/config.ts';
import { openDisk } from '@parley/server/files/storage/disk.ts';
import { withSegments } from '@parley/server/files/storage/segments.ts';
import { knownFingerprint } from '@parley/server/store/data-folder/secret-key.ts';
import { withSnapshot } from '@parley/server/store/engine/open.ts';
import { findFile } from '@parley/server/store/files/files.ts';
import { untilAborted } from '@parley-chat/sdk/retry.ts';
import { openTarget } from '../backup/archive-file.ts';
import { passphraseFile, readPassphrase } from '../backup/passphrase.ts';
import { amountText, listed, seconds } from '../backup/words.ts';
import { defineCommand, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { counted } from '../counted.ts';
import { inDatabase, serverSettings } from '../database.ts';
import { hint, oneLine, print, printJson } from '../output.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file to write, or - for standard output.', read: text } },
  options: {
    force: { summary: 'Replace an existing file.' },
    'passphrase-file': passphraseFile,
    quiet,
    json,
  },
  notes: `It saves the database, and the files and the key in the data folder, as they are at one moment. The server may keep
running. The command reads the same settings as the server. With a passphrase the backup
is encrypted, and cannot be restored without it. Without one, anyone who has the backup can read everything and act as
any user: protect it like the server.`,
  async run({ file: path }, { force, quiet, json, 'passphrase-file': typed }, context) {
    if (json && path === '-') throw new UsageError('Give --json or -, not both.');
    const { clock } = context;
    const passphrase = await readPassphrase(typed, context);
    const startedAt = clock.now();
    const options = { verb: 'Backing up', json, quiet: quiet || path === '-' };
    const { outcome, size: bytes } = await transfer(context, options, (running) =>
      save(context, { path, force, passphrase }, running),
    );
    const ms = clock.now() - startedAt;
    const { manifest, removed, lost, altered } = outcome;
    const messages = manifest.tables.find(({ name }) => name === 'messages')?.rows ?? 0;
    const files = manifest.files.included ? manifest.files.count - removed.length - lost.length : 0;
    const encrypted = passphrase !== undefined;
    const isRecorded = await recordBackup(context, { messages, files, bytes, encrypted });
    for (const line of notesOn(outcome)) await hint(context, line);
    if (!isRecorded) await hint(context, 'The backup is complete, but it could not be noted in the audit log.');
    if (json) {
      return printJson(context, {
        path,
        began_at: manifest.began_at,
        messages,
        files,
        files_included: manifest.files.included,
        key_included: manifest.key.included,
        encrypted,
        removed_files: removed,
        lost_files: lost,
        altered_files: altered,
        bytes,
        seconds: seconds(ms),
      });
    }
    const name = path === '-' ? 'the backup' : oneLine(path);
    const line = `Saved ${name}: ${amountText(messages, files, bytes, ms)}.`;
    await (path === '-' ? hint(context, line) : print(context, line));
  },
});

interface Recorded {
  readonly messages: number;
  readonly files: number;
  readonly bytes: number;
  readonly encrypted: boolean;
}

/** Notes a backup in the audit log, where administrators see when the last one was made. Returns whether it could. */
const recordBackup = (context: CommandContext, details: Recorded): Promise<boolean> =>
  inDatabase(context, ({ engine, now }) =>
    engine.write((tx) => record(tx, now(), operator, 'backup_made', { ...details })),
  ).then(
    () => true,
    () => false,
  );

/** Returns what the operator has to know about the backup. */
function notesOn({ manifest, removed, lost, altered }: BackupOutcome): string[] {
  const { files, key } = manifest;
  const notes = [
    !files.included &&
      `Not included: ${counted(files.count, 'file')} in the bucket ${oneLine(files.bucket ?? '')}. Back up the bucket too.`,
    key.fingerprint !== null &&
      !key.included &&
      'Not included: the key that encrypts webhook secrets. Keep PARLEY_SECRET_KEY: a restore needs it.',
    removed.length > 0 && `Not included, because deleted meanwhile: ${listed(removed)}.`,
    lost.length > 0 && `Not included, because missing from the storage: ${listed(lost)}.`,
    altered.length > 0 && `Included, but damaged in the storage: ${listed(altered)}.`,
  ];
  return notes.filter((note) => note !== false);
}

interface Destination {
  readonly path: string;
  readonly force: boolean;
  readonly passphrase: string | undefined;
}

/** Writes a backup of the server that the environment names. Returns its outcome and its size in bytes. */
async function save(context: CommandContext, { path, force, passphrase }: Destination, running: Transfer) {
  const settings = serverSettings(context);
  return inDatabase(context, async ({ engine, now }) => {
    const files = fileStorage(settings);
    const places = { given: settings.secretKey, folder: settings.folder };
    const key = keyToInclude(places, await knownFingerprint(engine));
    const target = await openTarget(path, force, context);
    const beganAt = now();
    let size = 0;
    const append = async (bytes: Uint8Array) => {
      await target.append(bytes);
      size += bytes.length;
    };
    let archive: ArchiveWriter | undefined;
    try {
      const sealed = passphrase === undefined ? undefined : await encryptTo(append, passphrase, randomBytes);
      archive = new ArchiveWriter(sealed?.append ?? append, beganAt, running.signal);
      const saving = backUp({
        withSnapshot: (work) => withSnapshot(settings, work),
        isKept: async (fileId) => (await findFile(engine, fileId, now())) !== undefined,
        files,
        key,
        archive,
        beganAt,
        completeUpTo: (db) => completeUpTo(db, engine),
        progress: (done, total) => running.show(done, total),
      });
      // A database query may hang, and a signal has to end the command all the same.
      const outcome = await untilAborted(saving, running.signal);
      await sealed?.finish();
      await target.finish();
      return { outcome, size };
    } catch (error) {
      await archive?.abandon();
      await target.drop();
      throw error;
    }
  });
}

function fileStorage({ s3, folder }: Settings): BackupDeps['files'] {
  if (s3) return { bucket: `${s3.bucket} at ${s3.endpoint}` };
  // Every server creates it at its start. With PostgreSQL nothing else shows that this is the wrong folder.
  if (!existsSync(join(folder, 'files'))) {
    throw new Error(`There is no folder for files in ${folder}. Set PARLEY_DATA or S3_URL as for the server.`);
  }
  return { blobs: withSegments(openDisk(folder)) };
}
