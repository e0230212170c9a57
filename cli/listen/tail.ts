import { chatTitles, userNames } from '../lookups.ts';
import { jsonLine, oneLine } from '../output.ts';
import { eventLines } from './event-lines.ts';
import { followEvents, type LoggedEvent, type Subscription } from './follow.ts';

/** Prints events as they happen. */
export async function tail(subscription: Subscription, json: boolean): Promise<void> {
  const { server, user, task, from } = subscription;
  const events = await followEvents(subscription, from);
  const format = formatter(subscription);
  await task.say(`Listening as ${oneLine(user.name)} at ${server}. Press Ctrl-C to stop.`);
  for await (const event of events) {
    await task.print(...(json ? [jsonLine(event)] : await events.retrier.call(() => format(event))));
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
