import type { Client } from '../../../server/test/support/client.ts';
import { quietPort } from '../../../server/test/support/quiet-port.ts';
import { eventsAfter } from '../../../server/test/support/world.ts';
import { check, type Verdict } from '../check.ts';
import { countsOf } from '../counts.ts';
import type { Evidence, Told } from '../evidence.ts';
import { type Conditions, fault, type Outcome } from '../fault.ts';
import { Owner } from '../owner.ts';
import { stream } from '../random.ts';
import { Receiver } from '../receiver.ts';
import { figure } from '../report.ts';
import { environmentFor, makeChats, makePeople, readMessages } from '../stage.ts';
import { perWebhook } from '../told-table.ts';
import { catchUp } from '../webhooks/catch-up.ts';
import { wreakHavoc } from '../webhooks/havoc.ts';
import { Tap } from '../webhooks/tap.ts';
import { Traffic } from '../webhooks/traffic.ts';
import { Victim } from '../webhooks/victim.ts';

/** The server is killed again and again while messages are sent and three webhooks are told of them. */
export const webhooks = fault({
  summary: 'kill -9 of the server under load, with three webhooks: one good, one flapping, one dead for a while',
  settings: {
    messages: { summary: 'messages to send', fallback: 20_000 },
    chats: { summary: 'chats that they go to', fallback: 20 },
    kills: { summary: 'kills of the server', fallback: 30 },
  },
  run,
});

interface Settings {
  readonly messages: number;
  readonly chats: number;
  readonly kills: number;
}

const names = ['good', 'flapping', 'dead'] as const;
type Receivers = Readonly<Record<(typeof names)[number], Receiver>>;

/** So many of the messages are kept for the time after the kills, and are sent over as long as this. */
const mostHeldBack = 200;
const heldBackMs = 30_000;

/** To ask about what was not delivered. */
const readingMs = 60_000;

async function run({ engine, seed, outOfTime, progress }: Conditions, settings: Settings): Promise<Outcome> {
  const began = performance.now();
  const since = (start: number) => (performance.now() - start) / 1_000;
  const env = await environmentFor(engine);
  await using victim = new Victim(env, await quietPort());
  await using good = new Receiver(await quietPort(), stream(seed, 'good'));
  await using flapping = new Receiver(await quietPort(), stream(seed, 'requests to flapping'));
  await using dead = new Receiver(await quietPort(), stream(seed, 'dead'));
  const receivers = { good, flapping, dead };
  for (const name of names) await receivers[name].open();
  const people = await makePeople(env, victim.url);
  const { owner: reader, authors } = people;

  victim.start();
  await victim.untilHealthy();
  const told = await register(reader, receivers);
  const chats = await makeChats(people, settings.chats);
  const tap = new Tap();
  const traffic = new Traffic({ seed, count: settings.messages, authors, chats, tap });
  const owner = new Owner(reader);
  const heldBack = Math.min(mostHeldBack, Math.floor(settings.messages / 10));
  const messages = settings.messages - heldBack;

  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const sending = traffic.run(end);
  const ticking = setInterval(() => progress(describe(since(began), victim, traffic, receivers, settings)), 1_000);
  const broken: string[] = [];
  let wellAgain = began;
  try {
    await wreakHavoc({ seed, kills: settings.kills, messages, victim, tap, traffic, flapping, dead, owner }, end);
    wellAgain = performance.now();
    broken.push(
      ...(await catchUp({ owner, receivers, traffic, heldBack, heldBackMs, tap }, end).catch(ifNotOver(end))),
    );
  } finally {
    over.abort();
    clearInterval(ticking);
    await sending;
  }
  if (outOfTime.aborted) broken.push('the time was over before everything was delivered');
  const counts = {
    kills: victim.kills,
    repeated: traffic.repeated,
    seconds: since(began),
    catchUpSeconds: since(wellAgain),
  };
  const log = await eventsAfter(reader, 0);
  const evidence: Evidence = {
    acknowledged: [...traffic.acknowledged.values()],
    changes: traffic.changes,
    found: await readMessages(reader, chats),
    log,
    told: told.map((one) => ({ ...one, log })),
  };
  const verdict = check(evidence);
  for (const line of traffic.unexpected.slice(0, 5)) broken.push(`unexpected answer: ${line}`);
  for (const { name, webhookId } of told) {
    const lines = await owner.unhappy(webhookId, AbortSignal.timeout(readingMs));
    broken.push(...lines.map((line) => `${name}: ${line}`));
  }
  const notes = [
    `Waits of minutes were cut short ${figure(owner.hurries)} times, as the owner of a webhook can: paused and made active, or redelivered.`,
  ];
  const tables = [overview(evidence, verdict, counts), perWebhook(evidence, verdict)];
  return { counts: countsOf(evidence, verdict), tables, notes, broken: [...verdict.broken, ...broken] };
}

/** What is cut off because the time is over is told once, and not by everybody. */
const ifNotOver = (end: AbortSignal) => (error: Error) => (end.aborted ? [] : [error.message]);

async function register(owner: Client, receivers: Receivers): Promise<Omit<Told, 'log'>[]> {
  const told: Omit<Told, 'log'>[] = [];
  for (const name of names) {
    const secret = `the secret of ${name}`;
    const { url, arrivals } = receivers[name];
    const { webhook } = await owner.ok('webhooks.register', { url, events: ['*'], secret });
    told.push({ name, webhookId: webhook.webhook_id, secret, arrivals });
  }
  return told;
}

function describe(
  seconds: number,
  victim: Victim,
  traffic: Traffic,
  receivers: Receivers,
  { messages, kills }: Settings,
): string {
  const endpoints = names.map((name) => {
    const { acceptedCount, isOpen, mood } = receivers[name];
    return `${name} ${figure(acceptedCount)}${isOpen ? (mood === 'fine' ? '' : ` (${mood})`) : ' (closed)'}`;
  });
  const sent = `${figure(traffic.acknowledged.size)}/${figure(messages)} acknowledged`;
  return `${Math.round(seconds)} s, kill ${victim.kills}/${kills}, ${sent}; ${endpoints.join(', ')}`;
}

function overview(
  { acknowledged, found, log }: Evidence,
  { missing, extra, untold }: Verdict,
  { kills, repeated, seconds, catchUpSeconds }: Record<'kills' | 'repeated' | 'seconds' | 'catchUpSeconds', number>,
): string[][] {
  return [
    ['kills of the server', figure(kills)],
    ['messages acknowledged', figure(acknowledged.length)],
    ['found again by get_messages', figure(found.length)],
    ['acknowledged and missing', figure(missing)],
    ['found and not acknowledged', figure(extra)],
    ['calls repeated for want of an answer', figure(repeated)],
    ['events in the log', figure(log.length)],
    ['messages and changes not in it', figure(untold)],
    ['seconds', figure(Math.round(seconds))],
    ['of these to catch up at the end', figure(Math.round(catchUpSeconds))],
  ];
}
