import { pruneAudit } from '../store/access/audit.ts';
import { pruneAccess } from '../store/access/expired.ts';
import { pruneThrottles } from '../store/access/throttles.ts';
import type { Engine } from '../store/engine/engine.ts';

const batch = 500;
const dayMs = 24 * 3_600_000;

/** Deletes a small batch of ended access and old audit entries. Returns true if there may be more. */
export async function dropEnded(
  engine: Engine,
  { now, auditDays }: { now: number; auditDays: number },
): Promise<boolean> {
  const dropped = await engine.write(async (tx) => {
    if (!(await tx.tryLock('retention of access'))) return 0;
    const access = await pruneAccess(tx, now, batch);
    const throttles = await pruneThrottles(tx, now, batch);
    const audit = await pruneAudit(tx, now - auditDays * dayMs, batch);
    return Math.max(access, throttles, audit);
  });
  return dropped >= batch;
}
