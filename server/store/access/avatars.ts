import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';

export interface AvatarRow {
  /** Changes with the picture. */
  readonly avatar: string;
  /** A WebP in base64. */
  readonly picture: string;
  readonly created_at: number;
}

/** Returns the picture of a user in one size, or undefined if there is none. */
export const findAvatar = (db: Db, userId: UserId, pixels: number): Promise<AvatarRow | undefined> =>
  db.get(
    `SELECT u.avatar, a.picture, a.created_at FROM avatars a JOIN users u ON u.user_id = a.user_id
     WHERE a.user_id = $1 AND a.pixels = $2`,
    [userId, pixels],
  );

/** Replaces the pictures of a user. Each is a WebP in base64. */
export async function replaceAvatar(
  tx: Tx,
  userId: UserId,
  pictures: readonly { readonly pixels: number; readonly picture: string }[],
  at: number,
): Promise<void> {
  await tx.run('DELETE FROM avatars WHERE user_id = $1', [userId]);
  for (const { pixels, picture } of pictures) {
    await tx.run('INSERT INTO avatars (user_id, pixels, picture, created_at) VALUES ($1, $2, $3, $4)', [
      userId,
      pixels,
      picture,
      at,
    ]);
  }
}
