import type { Engine } from '../store/engine/engine.ts';
import { dropEndedFiles, forgetFile, hasEndedFiles, postponeDeletion } from '../store/files/files.ts';
import type { Blobs } from './storage/blobs.ts';
import { thumbnailKey } from './thumbnails.ts';

const batch = 100;

/** When a failed removal is retried. */
const retryMs = 10 * 60_000;

/**
 * Removes a batch of expired files. Returns whether there may be more. The row goes last, so a removal that a crash
 * interrupts is repeated.
 */
export async function removeEnded(
  engine: Engine,
  blobs: Blobs,
  now: number,
  onRemoved: (count: number) => void,
): Promise<boolean> {
  if (!(await hasEndedFiles(engine, now))) return false;
  const dropped = await engine.write((tx) => dropEndedFiles(tx, now, batch));
  const faults: unknown[] = [];
  for (const { file_id, key, width } of dropped) {
    try {
      await blobs.remove(key);
      if (width !== null) await blobs.remove(thumbnailKey(key));
      await forgetFile(engine, file_id);
      onRemoved(1);
    } catch (fault) {
      faults.push(fault);
    }
  }
  // Later files must not wait for the ones that failed.
  if (faults.length > 0) await postponeDeletion(engine, dropped, now + retryMs);
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} files could not be removed`);
  return dropped.length === batch;
}
