import { ApiError, type Client, type ClientInput, type ClientOutput, type EventIterator } from '@parley-chat/sdk';
import type { CommandContext } from '../context.ts';
import { Retrier } from '../retrier.ts';
import type { Task } from '../signals.ts';

export type LoggedEvent = ClientOutput<'events.list'>['events'][number];

/** A user, the events that the user listens to, and the command that shows them. */
export interface Subscription {
  readonly server: string;
  readonly client: Client;
  readonly user: ClientOutput<'users.me'>['user'];
  readonly filters: Pick<ClientInput<'events.list'>, 'chat_id' | 'events'>;
  /** The cursor to start after, if one was given. `now` is the end of the log. */
  readonly from: number | 'now' | undefined;
  readonly task: Task;
  readonly context: CommandContext;
}

/**
 * Follows the log after a cursor, or from now on if it is undefined, as long as the task runs. Continues with the oldest event
 * if the log no longer holds the cursor.
 */
export async function followEvents(
  { client, filters, task }: Pick<Subscription, 'client' | 'filters' | 'task'>,
  from: Subscription['from'],
) {
  const retrier = new Retrier(task);
  const streamAfter = (after: number | undefined): EventIterator<LoggedEvent> => {
    let breaks = 0;
    return client.events({
      ...filters,
      after,
      signal: task.signal,
      // A break that the first attempt mends is not worth a line.
      onBreak: (error) => {
        if (++breaks > 1) retrier.noteDown(error);
      },
      onOpen: () => {
        breaks = 0;
        retrier.noteUp();
      },
    });
  };
  let stream = streamAfter(from === 'now' ? undefined : from);
  const follower = {
    retrier,
    /** The position after the last event that was yielded or filtered out. */
    get cursor() {
      return stream.cursor ?? 0;
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<LoggedEvent, never> {
      for (;;) {
        try {
          yield* stream;
        } catch (error) {
          await restart(error);
        }
      }
    },
  };
  const restart = async (error: unknown): Promise<void> => {
    const { cursor } = follower;
    if (!(error instanceof ApiError && error.code === 'cursor_expired' && cursor > 0)) throw error;
    await task.say(
      `Events after ${cursor} are deleted, or the cursor belongs to another log. Continuing with the oldest event.`,
    );
    stream = streamAfter(0);
  };
  await stream.open().catch(restart);
  return follower;
}
