import { ChatTitles } from './chat-titles.ts';
import { eventLines } from './event-lines.ts';
import { Following, type LoggedEvent } from './follow.ts';
import type { Listening } from './listening.ts';
import { Names } from './names.ts';
import { Patience } from './patience.ts';
import { jsonLine, oneLine } from './terminal.ts';

/** Shows events as they happen. */
export async function tail(listening: Listening, json: boolean): Promise<void> {
  const { user, running, from } = listening;
  const patience = new Patience(running);
  const linesOf = json ? async (event: LoggedEvent) => [jsonLine(event)] : reader(listening, patience);
  const following = await Following.begin({ ...listening, patience }, from === 'now' ? undefined : from);
  await running.say(`Listening as ${oneLine(user.name)} at ${listening.server}. Ctrl-C stops.`);
  for await (const event of following) await running.print(...(await linesOf(event)));
}

/** Puts an event into words. What these look up they remember, failures too: after one of the server they are new. */
function reader({ client, user, context }: Listening, patience: Patience): (event: LoggedEvent) => Promise<string[]> {
  const fresh = () => ({ names: new Names(client), titles: new ChatTitles(client, user.user_id) });
  let lookUp = fresh();
  return (event) =>
    patience.call(async () => {
      try {
        return await eventLines(event, lookUp, context.env);
      } catch (error) {
        lookUp = fresh();
        throw error;
      }
    });
}
