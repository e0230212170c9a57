import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import { pauseAfter } from './backoff.ts';
import { eventColumn, localSecond } from './event-lines.ts';
import type { LoggedEvent } from './follow.ts';
import packageJson from './package.json' with { type: 'json' };
import { oneLine } from './terminal.ts';
import type { Running } from './until-stopped.ts';

/** As long as a webhook's endpoint has. */
const answerWithinMs = 15_000;

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

  constructor(url: URL, secret: string, running: Running) {
    this.#url = url;
    this.#secret = secret;
    this.#running = running;
    bypassProxy(url);
  }

  /** Sends an event until it is accepted, telling of every failure; answers the line that tells of the success. */
  async deliver(event: LoggedEvent): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(event, attempt);
      const line = lineFor(event, outcome);
      if (outcome.accepted) return line;
      const seconds = pauseAfter(attempt);
      await this.#running.print(`${line}  again in ${seconds} s`);
      await sleep(seconds * 1_000, undefined, { signal: this.#running.signal });
    }
  }

  async #attempt(logged: LoggedEvent, attempt: number): Promise<Outcome> {
    const { event_id, event, timestamp, data } = logged;
    // The bytes that the log froze: JSON that JSON.stringify wrote is the same after being parsed and written again.
    const body = JSON.stringify({ event, timestamp, data });
    const started = performance.now();
    const { signal } = this.#running;
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]),
      });
      const ms = performance.now() - started;
      // The status decides. What else the receiver says, and how slowly, is its own affair; a few words are heard out.
      const isShort = Number(response.headers.get('content-length') ?? Number.NaN) <= shortAnswer;
      if (isShort) await Promise.race([response.arrayBuffer(), sleep(hearOutMs)]).catch(() => {});
      else void response.body?.cancel().catch(() => {});
      return { accepted: response.ok, answer: statusOf(response), ms };
    } catch (error) {
      signal.throwIfAborted();
      return { accepted: false, answer: troubleOf(error), ms: performance.now() - started };
    }
  }
}

function lineFor({ event_id, event }: LoggedEvent, { answer, ms }: Outcome): string {
  const time = localSecond(new Date().toISOString());
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

/** A proxy that the environment names is for the way to the server, never for that to a machine's own port. */
function bypassProxy({ host }: URL): void {
  const others = process.env.no_proxy ?? process.env.NO_PROXY;
  const direct = others ? `${others},${host}` : host;
  Object.assign(process.env, { no_proxy: direct, NO_PROXY: direct });
}
