import { hangMs } from '../hang.ts';
import { Owner } from '../owner.ts';
import { pause } from '../pause.ts';
import type { Streamed } from './evidence.ts';
import type { Hook } from './hooks.ts';
import { at, listEvents } from './look.ts';
import type { Reader } from './reader.ts';
import type { Tally } from './tally.ts';

/** What should not come is given this long to come nevertheless. */
const quietMs = 1_500;

/**
 * Waits until no webhook has anything left to deliver; answers in words what is left then. Their endpoints are all well. Where
 * they are hurried, what waits for a later time is tried at once.
 */
export async function settleHooks(
  hooks: readonly Hook[],
  { url, isHurried, tally }: { readonly url: string; readonly isHurried: boolean; readonly tally: Tally },
  end: AbortSignal,
): Promise<string[]> {
  const owners = [...new Map(hooks.map(({ owner }) => [owner.userId, new Owner(at(url, owner))])).values()];
  await within(async () => {
    const behind = await Promise.all(owners.map(async (owner) => ({ owner, late: await owner.behind(end) })));
    if (isHurried) for (const { owner, late } of behind) for (const webhook of late) await owner.hurry(webhook, end);
    return behind.every(({ late }) => late.length === 0);
  }, end);
  const hurries = owners.reduce((sum, owner) => sum + owner.hurries, 0);
  if (isHurried) tally.count('waits of webhooks cut short, as their owners can', hurries);
  const left: string[] = [];
  for (const { name, webhookId, owner } of hooks) {
    const lines = await new Owner(at(url, owner)).unhappy(webhookId, end);
    left.push(...lines.map((line) => `webhook ${name}: not settled, ${line}`));
  }
  return left;
}

/** Waits until every stream has come as far as it should, and a little longer; what is missing then is missing. */
export async function settleStreams(readers: readonly Reader[], url: string, end: AbortSignal): Promise<Streamed[]> {
  const streams = await Promise.all(
    readers.map(async ({ parts, began, blocks }) => ({
      name: parts.name,
      blocks,
      expected: await listEvents(at(url, parts.user), began ?? 0, parts.filter),
    })),
  );
  const isThere = (reader: Reader, i: number) => reader.cursor >= (streams[i]?.expected.at(-1)?.event_id ?? 0);
  await within(async () => readers.every(isThere), end);
  await pause(quietMs, end);
  return streams;
}

async function within(isSettled: () => Promise<boolean>, end: AbortSignal): Promise<void> {
  for (const deadline = performance.now() + hangMs; performance.now() < deadline && !end.aborted; ) {
    if (await isSettled()) return;
    await pause(100, end);
  }
}
