import { result, transact } from '../store/database.ts';

interface ClaimRow {
  readonly messageId: number;
}

/** Sounds are at least so far apart. */
const ringMs = 3_000;

/**
 * Decides which of several tabs shows a notification. The first that asks shows it, and every other one gets `no`. `ring` is
 * for one that may also make a sound. The claims are deleted with the records: a server that was restored may give the ids of
 * messages again.
 */
export function claimNotice(
  db: IDBDatabase,
  { chat_id, message_id }: { readonly chat_id: number; readonly message_id: number },
  now: number,
): Promise<'no' | 'show' | 'ring'> {
  return transact(db, ['meta'], 'readwrite', async (store) => {
    const meta = store('meta');
    const [claimed, rangAt = 0] = await Promise.all([
      result<ClaimRow | undefined>(meta.get(`notice-${chat_id}`)),
      result<number | undefined>(meta.get('notice-rang-at')),
    ]);
    if (claimed && claimed.messageId >= message_id) return 'no';
    meta.put({ messageId: message_id } satisfies ClaimRow, `notice-${chat_id}`);
    // A clock that was set back must not silence it for long.
    if (rangAt <= now && now - rangAt < ringMs) return 'show';
    meta.put(now, 'notice-rang-at');
    return 'ring';
  });
}
