import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import { answerTimeout, answerWithinMs } from './answer-timeout.ts';
import { pauseAfter } from './backoff.ts';
import type { Clock, CommandContext, Environment } from './context.ts';
import { eventColumn, localSecond } from './event-lines.ts';
import type { LoggedEvent } from './follow.ts';
import packageJson from './package.json' with { type: 'json' };
import { oneLine } from './terminal.ts';
import type { Running } from './until-stopped.ts';

/** Bytes of an answer that are waited for, and how long: a connection that is cut off makes some receivers complain. */
const shortAnswer = 4_096;
const hearOutMs = 500;

interface Outcome {
  readonly accepted: boolean;
  /** The status, or what came instead of one. */
  readonly answer: string;
  readonly ms: number;
}

/** Sends events to one address as deliveries of a webhook would arrive there. */
export class Receiver {
  readonly #url: URL;
  readonly #secret: string;
  readonly #running: Running;
  readonly #env: Environment;

  constructor(url: URL, secret: string, running: Running, { env, bypassProxy }: CommandContext) {
    this.#url = url;
    this.#secret = secret;
    this.#running = running;
    this.#env = env;
    // A proxy that the environment names is for the way to the server, never for that to a machine's own port.
    bypassProxy(url.host);
  }

  /** Sends an event until it is accepted, telling of every failure; answers the line that tells of the success. */
  async deliver(event: LoggedEvent): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(event, attempt);
      const line = lineFor(event, outcome, this.#env);
      if (outcome.accepted) return line;
      const seconds = pauseAfter(attempt);
      await this.#running.print(`${line}  again in ${seconds} s`);
      await this.#running.clock.sleep(seconds * 1_000, this.#running.signal);
    }
  }

  async #attempt(logged: LoggedEvent, attempt: number): Promise<Outcome> {
    const { event_id, event, timestamp, data } = logged;
    // The bytes that the log froze: JSON that JSON.stringify wrote is the same after being parsed and written again.
    const body = JSON.stringify({ event, timestamp, data });
    const started = performance.now();
    const { signal, clock } = this.#running;
    using late = answerTimeout(clock);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: deliveryHeaders({
          id: String(event_id),
          event,
          attempt,
          webhookId: 0,
          version: packageJson.version,
          body,
          at: Date.now(),
          secrets: [this.#secret],
        }),
        body,
        redirect: 'manual',
        // Events may be far apart, and a kept connection is one that the receiver may have closed since.
        keepalive: false,
        signal: AbortSignal.any([signal, late.signal]),
      });
      const ms = performance.now() - started;
      // The status decides. What else the receiver says, and how slowly, is its own affair; a few words are heard out.
      const isShort = Number(response.headers.get('content-length') ?? Number.NaN) <= shortAnswer;
      if (isShort) await hearOut(response, clock);
      else void response.body?.cancel().catch(() => {});
      return { accepted: response.ok, answer: statusOf(response), ms };
    } catch (error) {
      signal.throwIfAborted();
      return { accepted: false, answer: troubleOf(error), ms: performance.now() - started };
    }
  }
}

async function hearOut(response: Response, clock: Clock): Promise<void> {
  const enough = Promise.withResolvers<void>();
  const cancel = clock.timeout(hearOutMs, enough.resolve);
  await Promise.race([response.arrayBuffer(), enough.promise]).catch(() => {});
  cancel();
}

function lineFor({ event_id, event }: LoggedEvent, { answer, ms }: Outcome, env: Environment): string {
  const time = localSecond(new Date().toISOString(), env);
  return [time, eventColumn(event), event_id, oneLine(answer), `${Math.round(ms)} ms`].join('  ');
}

const statusOf = ({ status }: Response) =>
  status >= 300 && status < 400 ? `${status} (redirects are not followed)` : String(status);

const troubles: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  TimeoutError: `no answer in ${answerWithinMs / 1_000} s`,
};

function troubleOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  return troubles[code ?? ''] ?? troubles[name] ?? message;
}
