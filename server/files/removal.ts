import type { Blobs } from '../blobs/blobs.ts';
import type { Engine } from '../store/engine.ts';
import { dropEndedFiles, forgetFile, hasEndedFiles } from '../store/files.ts';

const batch = 100;

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
  for (const { file_id, key } of dropped) {
    await blobs.remove(key);
    await forgetFile(engine, file_id);
    counted(1);
  }
  return dropped.length === batch;
}
