import { requireEventField } from '../command.ts';
import { chatTitles, userNames } from '../lookups.ts';
import { jsonLines, oneLine } from '../output.ts';
import { cursorAt } from './cursor-at.ts';
import { eventLines } from './event-lines.ts';
import { followEvents, type LoggedEvent, type Subscription } from './follow.ts';

interface TailOptions {
  /** Prints each event as one line of JSON. */
  readonly json: boolean;
  /** Starts with the events since this time. */
  readonly since?: string | undefined;
}

/** Prints events as they happen. */
export async function tail(subscription: Subscription, { json, since }: TailOptions): Promise<void> {
  const { server, client, user, filters, task, context } = subscription;
  await requireEventField('event_id', context);
  const from = since === undefined ? subscription.from : await cursorAt(client, filters, since, task.signal);
  const events = await followEvents(subscription, from);
  const format = formatter(subscription);
  await task.say(`Listening as ${oneLine(user.name)} at ${server}. Press Ctrl-C to stop.`);
  for await (const event of events) {
    if (since !== undefined && event.timestamp < since) continue;
    await task.print(...(json ? jsonLines(context, event) : await events.retrier.call(() => format(event))));
  }
}

/** Returns a function that formats an event. The lookups cache failures, so a failed call replaces them. */
function formatter({ client, user, context }: Subscription): (event: LoggedEvent) => Promise<string[]> {
  const newLookups = () => ({ names: userNames(client), titles: chatTitles(client, user.user_id) });
  let lookups = newLookups();
  return async (event) => {
    try {
      return await eventLines(event, lookups, context.env);
    } catch (error) {
      lookups = newLookups();
      throw error;
    }
  };
}
