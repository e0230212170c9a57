import { oneLine } from '../output.ts';
import { SavedFile } from '../saved-file.ts';
import { newSecret } from '../secret.ts';
import { followEvents, type Subscription } from './follow.ts';
import { receiver } from './receiver.ts';

interface State {
  /** The last event that was accepted. */
  readonly cursor: number;
  readonly secret: string;
}

/** Sends events to a URL as they happen, and resumes where the last run stopped. */
export async function forward(subscription: Subscription, url: URL, chosenSecret: string | undefined): Promise<void> {
  const { server, user, filters, task, context } = subscription;
  const { chat_id, events: names } = filters;
  const key = { server, user_id: user.user_id, forward: url.href, chat_id, events: names };
  const file = new SavedFile('state', 'listen', JSON.stringify(key), context.env);
  const before = loadState(file);
  const events = await followEvents(subscription, subscription.from ?? before?.cursor);
  const secret = chosenSecret ?? before?.secret ?? newSecret();
  const save = (cursor: number) => file.write({ cursor, secret, ...key });
  let { cursor } = events;
  save(cursor);
  const start = `Forwarding to ${url.href} as ${oneLine(user.name)} at ${server}, after event ${cursor}.`;
  await task.say(`${start} Press Ctrl-C to stop.`);
  await task.say(`Secret: ${oneLine(secret)}`);
  const deliver = receiver(url, secret, task, context);
  let isSending = false;
  try {
    for await (const event of events) {
      isSending = true;
      const line = await deliver(event);
      isSending = false;
      cursor = event.event_id;
      // Saved first: a reader of the line relies on it.
      save(cursor);
      await task.print(line);
    }
  } finally {
    // Includes events that the filter skipped. Otherwise the cursor of a quiet chat would expire.
    save(isSending ? cursor : events.cursor);
  }
}

function loadState(file: SavedFile): State | undefined {
  const saved = file.read();
  if (saved === undefined) return undefined;
  const { cursor, secret } = saved;
  if (Number.isSafeInteger(cursor) && typeof secret === 'string' && secret !== '') {
    return { cursor: cursor as number, secret };
  }
  throw new Error(`${file.path} is damaged. Remove it to start over with another secret.`);
}
