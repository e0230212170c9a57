import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import type { CommandContext } from '../context.ts';
import { localSecond, oneLine } from '../output.ts';
import packageJson from '../package.json' with { type: 'json' };
import { delayAfter } from '../retrier.ts';
import type { Task } from '../signals.ts';
import { responseTimeout, responseTimeoutMs, settleWithin } from '../timeout.ts';
import { eventColumn } from './event-lines.ts';
import type { LoggedEvent } from './follow.ts';

/** A short response body is read, because some receivers complain about a closed connection. In bytes. */
const maxShortBody = 4_096;
const readBodyMs = 500;

/**
 * Returns a function that sends an event to a URL as a webhook delivery, until the receiver accepts it. It prints a line for
 * each failure, and returns the line for the success.
 */
export function receiver(url: URL, secret: string, task: Task, { env, bypassProxy }: CommandContext) {
  const { signal, clock } = task;
  // A proxy in the environment is for the way to the server, not for a port on this machine.
  bypassProxy(url.host);

  const attempt = async (logged: LoggedEvent, number: number) => {
    const { event_id, event, timestamp, data } = logged;
    // These are the bytes in the log: JSON.stringify restores its own output after JSON.parse.
    const body = JSON.stringify({ event, timestamp, data });
    const startedAt = clock.now();
    using late = responseTimeout(clock);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: deliveryHeaders({
          id: String(event_id),
          event,
          attempt: number,
          webhookId: 0,
          version: packageJson.version,
          body,
          at: Date.now(),
          secrets: [secret],
        }),
        body,
        redirect: 'manual',
        // Events may be far apart, and the receiver may have closed an idle connection.
        keepalive: false,
        signal: AbortSignal.any([signal, late.signal]),
      });
      const ms = clock.now() - startedAt;
      const isShort = Number(response.headers.get('content-length') ?? Number.NaN) <= maxShortBody;
      if (isShort) await settleWithin(clock, readBodyMs, response.arrayBuffer());
      else void response.body?.cancel().catch(() => {});
      return { isAccepted: response.ok, result: statusText(response), ms };
    } catch (error) {
      signal.throwIfAborted();
      return { isAccepted: false, result: failureText(error), ms: clock.now() - startedAt };
    }
  };

  return async (event: LoggedEvent): Promise<string> => {
    for (let number = 1; ; number++) {
      const { isAccepted, result, ms } = await attempt(event, number);
      const time = localSecond(new Date().toISOString(), env);
      const cells = [time, eventColumn(event.event), event.event_id, oneLine(result), `${Math.round(ms)} ms`];
      const line = cells.join('  ');
      if (isAccepted) return line;
      const seconds = delayAfter(number);
      await task.print(`${line}  again in ${seconds} s`);
      await clock.sleep(seconds * 1_000, signal);
    }
  };
}

const statusText = ({ status }: Response) =>
  status >= 300 && status < 400 ? `${status} (redirects are not followed)` : String(status);

const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  TimeoutError: `no response in ${responseTimeoutMs / 1_000} s`,
};

function failureText(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  return failures[code ?? ''] ?? failures[name] ?? message;
}
