import { removeEnded } from '../../files/removal.ts';
import type { Blobs } from '../../files/storage/blobs.ts';
import type { Client } from './client.ts';
import type { TestServer } from './server.ts';

export const newGroup = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'Group', participants: others.map((c) => c.userId) })).group.chat_id;

export const uploadText = async (by: Client, text: string) =>
  (await by.ok('files.upload', { file: new File([text], 'a.txt') })).file;

/** Returns the status of a download. */
export const statusOf = async (by: Client, url: string) =>
  (await fetch(url, { headers: { authorization: `Bearer ${by.token}` } })).status;

/** Removes expired files like the server's sweep. Returns how many were removed. */
export async function sweep({ engine }: TestServer, blobs: Blobs, now: number): Promise<number> {
  let removed = 0;
  const counted = (count: number) => {
    removed += count;
  };
  while (await removeEnded(engine, blobs, now, counted));
  return removed;
}
