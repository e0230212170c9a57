import { Following } from './follow.ts';
import { type Kept, StateFile } from './listen-state.ts';
import type { Listening } from './listening.ts';
import { Patience } from './patience.ts';
import { Receiver } from './receiver.ts';
import { oneLine } from './terminal.ts';

/** Sends events to an address as they happen, and goes on where it stopped. */
export async function forward(listening: Listening, url: URL, chosenSecret: string | undefined): Promise<void> {
  const { running } = listening;
  const file = stateFor(listening, url);
  const before = file.read();
  const from = listening.from ?? before?.cursor;
  const parts = { ...listening, patience: new Patience(running) };
  const following = await Following.begin(parts, from === 'now' ? undefined : from);
  let kept: Kept = { cursor: following.cursor, secret: chosenSecret ?? before?.secret ?? newSecret() };
  file.write(kept);
  await announce(listening, url, kept);
  const receiver = new Receiver(url, kept.secret, running, listening.context);
  let isSending = false;
  try {
    for await (const event of following) {
      isSending = true;
      const line = await receiver.deliver(event);
      isSending = false;
      kept = { ...kept, cursor: event.event_id };
      // Before the line is printed: whoever has read it can rely on it.
      file.write(kept);
      await running.print(line);
    }
  } finally {
    // What happened in other chats was passed too. Left behind, the cursor of a quiet chat would expire one day.
    file.write(isSending ? kept : { ...kept, cursor: following.cursor });
  }
}

function stateFor({ server, user, filters, context }: Listening, url: URL): StateFile {
  const { chat_id, events } = filters;
  return new StateFile({ server, user_id: user.user_id, forward: url.href, chat_id, events }, context.env);
}

async function announce({ server, user, running }: Listening, url: URL, { cursor, secret }: Kept): Promise<void> {
  await running.say(
    `Forwarding to ${url.href} as ${oneLine(user.name)} at ${server}, after event ${cursor}. Ctrl-C stops.`,
  );
  await running.say(`Secret: ${oneLine(secret)}`);
}

/** Hexadecimal: it goes through a shell, a .env file and a form unharmed. */
const newSecret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
