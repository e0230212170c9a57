import type { Replay, Webhook } from '@parley/contract';
import { program } from '@parley/server/lib/program.ts';
import type { Client, ClientOutput } from '@parley-chat/sdk';
import { defineCommand, type Read, UsageError } from '../command.ts';
import { confirm } from '../confirm.ts';
import { openConnection } from '../connection.ts';
import { counted } from '../counted.ts';
import { hint, localTime, oneLine, print, printJson } from '../output.ts';
import { Retrier } from '../retrier.ts';
import { printTable } from '../table.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { connection, json, moment, positive, quiet, list as words, yes } from '../values.ts';
import { webhookId } from './webhooks.ts';

const givenUpStates = ['failed', 'skipped'] as const;

const onlyStates: Read<(typeof givenUpStates)[number][]> = (typed) => {
  const states = givenUpStates.filter((state) => words(typed).includes(state));
  if (states.length === 0 || states.length !== new Set(words(typed)).size) {
    throw new Error('failed, skipped or failed,skipped');
  }
  return states;
};

export const replay = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: {
    since: { value: 'time', summary: 'Events since a time (2026-01-31T12:00) or an age (2h).', read: moment },
    from: { value: 'event_id', summary: 'Events from this one on.', read: positive },
    only: { value: 'states', summary: 'Only failed or skipped deliveries: failed, skipped or both.', read: onlyStates },
    'dry-run': { summary: 'Only count the events.' },
    'no-wait': { summary: 'Start the replay, and do not wait for its end.' },
    yes,
    quiet,
    json,
    ...connection,
  },
  notes: `It counts the events and asks for confirmation. Then it shows the progress. Ctrl-C ends the command; the replay continues
on the server until "webhooks cancel". Its deliveries have the header X-Webhook-Replay.`,
  async run({ 'webhook id': webhook_id }, { since, from: from_event_id, only, json, quiet, ...options }, context) {
    if ((since === undefined) === (from_event_id === undefined)) throw new UsageError('Give either --since or --from.');
    const { client } = openConnection(options, context);
    const range = { since, from_event_id, only };
    const { webhook } = await client.webhooks.get({ webhook_id });
    const preview = await client.webhooks.previewReplay({ webhook_id, ...range });
    const planned = `${amountText(preview)} to ${oneLine(webhook.url)}`;
    if (options['dry-run']) {
      return json ? printJson(context, preview) : print(context, `A replay would send ${planned}.`);
    }
    if (preview.event_count === 0) {
      return json ? printJson(context, { replay: null }) : print(context, 'There are no such events to replay.');
    }
    await confirm(`Send ${planned} again?`, options, context);
    const started = (await client.webhooks.replay({ webhook_id, ...range })).replay;
    const isHeld = webhook.status !== 'active';
    const ended =
      isHeld || options['no-wait']
        ? started
        : await transfer(
            context,
            { verb: 'Replaying', amount, stopped: stoppedText(started), json, quiet },
            (running) => watch(client, started, preview, running),
          );
    if (json) await printJson(context, { replay: ended });
    else await print(context, replayLine(ended));
    if (isHeld)
      await hint(context, `The webhook is ${webhook.status}. Start it: ${program} webhooks resume ${webhook_id}`);
    if (ended.status === 'stopped') throw new Error('The replay was stopped, because its webhook ended.');
    if (ended.status === 'cancelled') throw new Error('The replay was cancelled.');
  },
});

const amount = (count: number): string => Math.round(count).toLocaleString('en');

type Preview = ClientOutput<'webhooks.preview_replay'>;

const amountText = ({ event_count, is_exact }: Preview): string =>
  `${is_exact ? '' : 'more than '}${counted(event_count, 'event')}`;

const seeReplays = ({ webhook_id }: Replay): string => `${program} webhooks replays ${webhook_id}`;

const stoppedText = (started: Replay): string =>
  `Replay ${started.replay_id} continues on the server. See: ${seeReplays(started)}`;

const pollMs = 500;
/** After so long without progress the command looks for the reason. */
const stuckMs = 5_000;

/** Shows the progress of a replay until it ends. */
async function watch(client: Client, started: Replay, preview: Preview, running: Transfer): Promise<Replay> {
  const { signal, clock } = running;
  const { webhook_id, replay_id } = started;
  const retrier = new Retrier(running);
  let [movedAt, before] = [clock.now(), -1];
  let saidReason: string | undefined;
  for (;;) {
    const { replays } = await retrier.call((signal) =>
      client.webhooks.replays({ webhook_id, before_id: replay_id + 1, limit: 1 }, { signal }),
    );
    const [current = started] = replays;
    if (current.status !== 'running') return current;
    const { done, total } = progressOf(current, preview);
    running.show(done, total);
    if (done !== before) [movedAt, before] = [clock.now(), done];
    if (clock.now() - movedAt >= stuckMs) {
      movedAt = clock.now();
      const { webhook } = await retrier.call((signal) => client.webhooks.get({ webhook_id }, { signal }));
      const reason = stuckText(webhook);
      if (reason !== undefined && reason !== saidReason) await running.say(reason);
      saidReason = reason;
    }
    await clock.sleep(pollMs, signal);
  }
}

function stuckText({ webhook_id, status, down_since }: Webhook): string | undefined {
  if (status !== 'active')
    return `The webhook is ${status}. The replay waits for: ${program} webhooks resume ${webhook_id}`;
  if (down_since === null) return undefined;
  return `The endpoint is down. The replay waits for it. Find out why: ${program} webhooks test ${webhook_id}`;
}

/** Returns the progress in events. Without an exact number it is that in the log, which holds other events too. */
function progressOf(current: Replay, { event_count, is_exact }: Preview) {
  const { delivered_count, failed_count, skipped_count, from_event_id, to_event_id, reached_event_id } = current;
  const settled = delivered_count + failed_count + skipped_count;
  if (is_exact) return { done: settled, total: Math.max(event_count, settled) };
  const passed = reached_event_id - from_event_id + 1 - current.open_count;
  return { done: Math.max(passed, 0), total: to_event_id - from_event_id + 1 };
}

const countsText = ({ delivered_count, failed_count, skipped_count, open_count }: Replay): string =>
  [
    `${amount(delivered_count)} delivered`,
    failed_count > 0 && `${amount(failed_count)} failed`,
    skipped_count > 0 && `${amount(skipped_count)} skipped`,
    open_count > 0 && `${amount(open_count)} open`,
  ]
    .filter(Boolean)
    .join(', ');

const replayLine = (replay: Replay): string =>
  replay.status === 'running'
    ? `Started replay ${replay.replay_id}. See: ${seeReplays(replay)}`
    : `Replay ${replay.replay_id} is ${replay.status}: ${countsText(replay)}.`;

export const cancel = defineCommand({
  arguments: { 'replay id': { summary: 'The id that webhooks replays shows.', read: positive } },
  options: { json, ...connection },
  notes: 'Its open deliveries are skipped. A replay that has ended stays as it is.',
  async run({ 'replay id': replay_id }, { json, ...where }, context) {
    const cancelled = await openConnection(where, context).client.webhooks.cancelReplay({ replay_id });
    if (json) return printJson(context, cancelled);
    await print(context, replayLine(cancelled.replay));
  },
});

export const list = defineCommand({
  arguments: { 'webhook id': webhookId },
  options: {
    limit: { value: 'number', summary: 'The maximum number of replays. Defaults to the newest 50.', read: positive },
    before: { value: 'replay_id', summary: 'Only replays before this one.', read: positive },
    json,
    ...connection,
  },
  notes: 'The newest replay comes last.',
  async run({ 'webhook id': webhook_id }, { limit, before, json, ...where }, context) {
    const { client } = openConnection(where, context);
    const page = await client.webhooks.replays({ webhook_id, limit, before_id: before });
    if (json) return printJson(context, page);
    if (page.replays.length === 0) return hint(context, 'No replays.');
    const rows = page.replays.map((replay) => [
      String(replay.replay_id),
      localTime(replay.created_at, context.env),
      replay.status,
      `${replay.from_event_id} to ${replay.to_event_id}`,
      replay.only === null ? 'all' : replay.only.join(','),
      countsText(replay),
    ]);
    await printTable(context, [['id', 'started', 'status', 'events', 'only', 'deliveries'], ...rows.reverse()]);
    if (page.has_more) await hint(context, `There are more: --before ${page.replays.at(-1)?.replay_id}`);
  },
});
