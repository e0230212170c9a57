import { follow } from './follow.ts';
import { type Kept, StateFile } from './listen-state.ts';
import type { Listening } from './listening.ts';
import { Patience } from './patience.ts';
import { Receiver } from './receiver.ts';
import { oneLine } from './terminal.ts';

/** Sends events to an address as they happen, and goes on where it stopped. */
export async function forward(listening: Listening, url: URL, chosenSecret: string | undefined): Promise<void> {
  const { client, filters, running } = listening;
  const file = stateFor(listening, url);
  const before = file.read();
  let kept: Kept = {
    cursor: listening.after ?? before?.cursor ?? listening.end,
    secret: chosenSecret ?? before?.secret ?? newSecret(),
  };
  file.write(kept);
  await announce(listening, url, kept);
  const receiver = new Receiver(url, kept.secret, running);
  try {
    for await (const page of follow(client, filters, kept.cursor, running, new Patience(running))) {
      for (const event of page.events) {
        const line = await receiver.deliver(event);
        kept = { ...kept, cursor: event.event_id };
        // Before the line is printed: whoever has read it can rely on it.
        file.write(kept);
        await running.print(line);
      }
      // What happened in other chats was passed too. Left behind, the cursor of a quiet chat would expire one day.
      kept = { ...kept, cursor: page.next };
    }
  } finally {
    file.write(kept);
  }
}

function stateFor({ server, user, filters }: Listening, url: URL): StateFile {
  return new StateFile({
    server,
    user_id: user.user_id,
    forward: url.href,
    chat_id: filters.chat_id,
    events: filters.events,
  });
}

async function announce({ server, user, running }: Listening, url: URL, { cursor, secret }: Kept): Promise<void> {
  await running.say(
    `Forwarding to ${url.href} as ${oneLine(user.name)} at ${server}, after event ${cursor}. Ctrl-C stops.`,
  );
  await running.say(`Secret: ${oneLine(secret)}`);
}

/** Hexadecimal: it goes through a shell, a .env file and a form unharmed. */
const newSecret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
