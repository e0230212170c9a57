import type { Blobs } from '../blobs/blobs.ts';
import type { Engine } from '../store/engine.ts';
import { dropEndedFiles, forgetFile, hasEndedFiles, postponeDeletion } from '../store/files.ts';

const batch = 100;

/** When a file is tried again that could not be removed. */
const retryMs = 10 * 60_000;

/**
 * Removes a small batch of files that have come to their end; answers whether there may be more. The row goes last: what a
 * crash interrupts is found again.
 */
export async function removeEnded(
  engine: Engine,
  blobs: Blobs,
  now: number,
  counted: (count: number) => void,
): Promise<boolean> {
  if (!(await hasEndedFiles(engine, now))) return false;
  const dropped = await engine.write((tx) => dropEndedFiles(tx, now, batch));
  const faults: unknown[] = [];
  for (const { file_id, key } of dropped) {
    try {
      await blobs.remove(key);
      await forgetFile(engine, file_id);
      counted(1);
    } catch (fault) {
      faults.push(fault);
    }
  }
  // The next time they are tried again; what comes after them does not wait for that.
  if (faults.length > 0) await postponeDeletion(engine, dropped, now + retryMs);
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} files could not be removed`);
  return dropped.length === batch;
}
