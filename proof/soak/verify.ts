import { check } from '../harness/check.ts';
import { readMessages } from '../harness/stage.ts';
import { waitUntil } from '../harness/wait.ts';
import { makeOwner, type WebhookOwner } from '../harness/webhooks.ts';
import type { Ledger } from './ledger.ts';
import type { LogReader, Scene } from './scene.ts';

/** After the load everything is delivered within this time. After the first part of it the owner hurries what waits. */
const catchUpMs = 120_000;
const patienceMs = 10_000;

/** Compares everything that the server acknowledged with what is there and what was delivered, after the load. */
export async function verify(
  scene: Scene,
  log: LogReader,
  ledgers: readonly Ledger[],
): Promise<{ readonly found: number; readonly broken: readonly string[] }> {
  const { owner: client, groups } = scene.stage;
  const owner = makeOwner((name, input) => client.ok(name, input));
  const late = await catchUp(owner);
  await log.readOn();
  for (const ledger of ledgers) ledger.settle(true);
  const found = await readMessages(client, groups);
  const acknowledged = [...scene.acknowledged.values()];
  const verdict = check({ acknowledged, changes: scene.changes, found, log: log.events, webhooks: [] });
  const broken = [...late, ...verdict.broken];
  for (const { webhook, broken: lines } of ledgers) {
    const undelivered = await owner.undelivered(webhook.webhookId, AbortSignal.timeout(catchUpMs));
    broken.push(...lines, ...undelivered.map((line) => `${webhook.name}: ${line}`));
  }
  return { found: found.length, broken };
}

/** Waits until no webhook has undelivered events. Returns what is left, as sentences. */
async function catchUp(owner: WebhookOwner): Promise<string[]> {
  const began = performance.now();
  const end = AbortSignal.timeout(2 * catchUpMs);
  const isCaughtUp = async () => {
    if (performance.now() - began > patienceMs) await owner.hurryAll(end);
    return (await owner.behind(end)).length === 0;
  };
  if (await waitUntil(isCaughtUp, { ms: catchUpMs, everyMs: 1_000 })) return [];
  return (await owner.behind(end)).map(({ url }) => `${url} has undelivered events after ${catchUpMs / 1_000} s`);
}
