import type { QuietHours, UserId } from '@parley/contract';
import { quietHoursOf } from '../../domain/notification.ts';
import type { Db, Tx } from '../engine/engine.ts';

export async function findQuietHours(db: Db, userId: UserId): Promise<QuietHours | null> {
  const row = await db.get<Parameters<typeof quietHoursOf>[0]>(
    'SELECT quiet_from, quiet_to, quiet_time_zone FROM users WHERE user_id = $1',
    [userId],
  );
  return row ? quietHoursOf(row) : null;
}

export async function setQuietHours(tx: Tx, userId: UserId, hours: QuietHours | null): Promise<void> {
  await tx.run('UPDATE users SET quiet_from = $2, quiet_to = $3, quiet_time_zone = $4 WHERE user_id = $1', [
    userId,
    hours?.from ?? null,
    hours?.to ?? null,
    hours?.time_zone ?? null,
  ]);
}
