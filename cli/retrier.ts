import type { ErrorCode } from '@parley/contract';
import { ApiError, TransportError } from '@parley-chat/sdk';
import { plainLine } from './failure.ts';
import { oneLine } from './output.ts';
import type { Task } from './signals.ts';

const firstDelays = [1, 2, 5];
const maxDelay = 10;

/** Returns the seconds to wait after this many consecutive failures. They are short, because somebody is watching. */
export const delayAfter = (failures: number): number => firstDelays[failures - 1] ?? maxDelay;

/** How a long call reports that it is not stuck. */
export interface Progress {
  /** Restarts the silence timeout. */
  alive(): void;
  /** Restarts the silence timeout and the delays: the call got further than before, so the server is there. */
  advanced(): void;
}

export interface Limits {
  /** A call without progress for so long has failed. */
  readonly silenceMs: number;
  /** The retrier gives up after this time without a response. */
  readonly outageMs: number;
}

const defaultLimits: Limits = { silenceMs: 30_000, outageMs: Number.POSITIVE_INFINITY };

const transientCodes: readonly ErrorCode[] = ['rate_limited', 'unavailable', 'internal'];

/** Retries calls to a server that may be down for a while. It reports the start and the end of an outage once each. */
export class Retrier {
  readonly #task: Pick<Task, 'signal' | 'clock' | 'say'>;
  readonly #limits: Limits;
  #downSince: number | undefined;

  constructor(task: Pick<Task, 'signal' | 'clock' | 'say'>, limits: Limits = defaultLimits) {
    this.#task = task;
    this.#limits = limits;
  }

  /** Makes the call until it succeeds. Throws a permanent error, or the last one after `outageMs`. */
  async call<T>(call: (signal: AbortSignal, progress: Progress) => Promise<T>): Promise<T> {
    const { signal, clock } = this.#task;
    for (let failures = 1; ; failures++) {
      const silence = new AbortController();
      const expire = () => silence.abort(new TransportError('The server does not respond.'));
      let cancel = clock.timeout(this.#limits.silenceMs, expire);
      const alive = () => {
        cancel();
        cancel = clock.timeout(this.#limits.silenceMs, expire);
      };
      const advanced = () => {
        alive();
        failures = 1;
        this.noteUp();
      };
      try {
        const result = await call(AbortSignal.any([signal, silence.signal]), { alive, advanced });
        await this.#reportUp();
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (!isTransient(error)) throw error;
        await this.#reportDown(error);
        await clock.sleep(Math.max(delayAfter(failures), error.retryAfter ?? 0) * 1_000, signal);
      } finally {
        cancel();
      }
    }
  }

  /** Reports an outage that the caller itself retries. A failure to write the line is ignored. */
  noteDown(error: unknown): void {
    this.#reportDown(error).catch(() => {});
  }

  noteUp(): void {
    this.#reportUp().catch(() => {});
  }

  async #reportDown(error: unknown): Promise<void> {
    if (error instanceof ApiError && error.code === 'rate_limited') return;
    const now = this.#task.clock.now();
    if (this.#downSince !== undefined && now - this.#downSince > this.#limits.outageMs) throw error;
    if (this.#downSince !== undefined) return;
    this.#downSince = now;
    await this.#task.say(oneLine(`The server is not available. Retrying. ${plainLine(error)}`));
  }

  async #reportUp(): Promise<void> {
    if (this.#downSince === undefined) return;
    this.#downSince = undefined;
    await this.#task.say('The server is back.');
  }
}

const isTransient = (error: unknown): error is ApiError | TransportError =>
  error instanceof ApiError ? transientCodes.includes(error.code) : error instanceof TransportError;
