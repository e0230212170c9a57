import { beforeAll, describe } from 'bun:test';
import type { Blobs } from '../../files/storage/blobs.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { openS3 } from '../../files/storage/s3.ts';
import { parseS3Url } from '../../files/storage/s3-url.ts';
import { temporaryFolder } from './cleanup.ts';
import { describeUnless } from './requirements.ts';
import { s3Missing, sharedS3 } from './s3.ts';

export type StorageName = 'disk' | 's3';

/** Returns an unused storage: a folder, or the URL of a bucket. */
export async function freshPlace(storage: StorageName): Promise<string> {
  return storage === 'disk' ? temporaryFolder() : (await sharedS3()).freshBucket();
}

export const openPlace = (place: string): Blobs =>
  place.startsWith('http') ? openS3(parseS3Url(place)) : openDisk(place);

/** Describes behaviour that must hold on both storages. */
export function onBothStorages(name: string, suite: (storage: StorageName) => void): void {
  describe(`${name} (disk)`, () => suite('disk'));
  onS3(name, () => suite('s3'));
}

/** Describes behaviour that only S3 can show. */
export function onS3(name: string, suite: () => void): void {
  describeUnless(s3Missing, `${name} (S3)`, () => {
    beforeAll(async () => {
      await sharedS3();
    });
    suite();
  });
}
