import type { ErrorCode } from '@parley/contract';
import { ApiError, TransportError } from '@parley/sdk';
import { pauseAfter } from './backoff.ts';
import type { Clock } from './context.ts';
import { plainLine } from './failure.ts';
import { oneLine } from './terminal.ts';
import type { Running } from './until-stopped.ts';

/** What a call that takes long tells of its way. */
export interface Signs {
  /** Something moves. */
  alive(): void;
  /** It has come further than ever before, so the server is there. */
  further(): void;
}

export interface Limits {
  /** A server that says nothing at all for so long is away, whatever its sockets do. */
  readonly silenceMs: number;
  /** One that is away for so long is not waited for any more. */
  readonly absenceMs: number;
}

const usual: Limits = { silenceMs: 30_000, absenceMs: Number.POSITIVE_INFINITY };

/** Refusals that pass by themselves. */
const passing: readonly ErrorCode[] = ['rate_limited', 'unavailable', 'internal'];

/** Makes calls to a server that may be away for a while, such as for a restart: that is said once, and so is its return. */
export class Patience {
  readonly #running: Pick<Running, 'signal' | 'clock' | 'say'>;
  readonly #limits: Limits;
  #awaySince: number | undefined;

  constructor(running: Pick<Running, 'signal' | 'clock' | 'say'>, limits: Limits = usual) {
    this.#running = running;
    this.#limits = limits;
  }

  /** Makes the call until it is carried out, or refused for good. */
  async call<T>(call: (signal: AbortSignal, signs: Signs) => Promise<T>): Promise<T> {
    const { signal, clock } = this.#running;
    for (let failures = 1; ; failures++) {
      const silence = new Silence(clock, this.#limits.silenceMs);
      const signs: Signs = {
        alive: () => silence.break(),
        further: () => {
          silence.break();
          failures = 1;
          this.noteBack();
        },
      };
      try {
        const answer = await call(AbortSignal.any([signal, silence.signal]), signs);
        await this.#isBack();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (!maySucceedLater(error)) throw error;
        await this.#isAway(error);
        await clock.sleep(secondsBefore(failures, error) * 1_000, signal);
      } finally {
        silence.end();
      }
    }
  }

  /** For what is tried again elsewhere. What cannot be said is no reason to fail. */
  noteAway(error: unknown): void {
    this.#isAway(error).catch(() => {});
  }

  noteBack(): void {
    this.#isBack().catch(() => {});
  }

  async #isAway(error: unknown): Promise<void> {
    if (isRateLimit(error)) return;
    const now = this.#running.clock.now();
    if (this.#awaySince !== undefined && now - this.#awaySince > this.#limits.absenceMs) throw error;
    if (this.#awaySince !== undefined) return;
    this.#awaySince = now;
    await this.#running.say(oneLine(`The server is away; trying until it is back. ${plainLine(error)}`));
  }

  async #isBack(): Promise<void> {
    if (this.#awaySince === undefined) return;
    this.#awaySince = undefined;
    await this.#running.say('The server is back.');
  }
}

/** Aborts its signal once nothing was heard for so long. */
class Silence {
  readonly #controller = new AbortController();
  readonly #begin: () => () => void;
  #end: () => void;

  constructor(clock: Clock, longestMs: number) {
    const abort = () => this.#controller.abort(new TransportError('The server does not answer.'));
    this.#begin = () => clock.timeout(longestMs, abort);
    this.#end = this.#begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  break(): void {
    this.#end();
    this.#end = this.#begin();
  }

  end(): void {
    this.#end();
  }
}

function maySucceedLater(error: unknown): boolean {
  if (error instanceof ApiError) return passing.includes(error.code);
  return error instanceof TransportError;
}

const isRateLimit = (error: unknown) => error instanceof ApiError && error.code === 'rate_limited';

function secondsBefore(failures: number, error: unknown): number {
  const asked = error instanceof ApiError || error instanceof TransportError ? error.retryAfter : undefined;
  return Math.max(pauseAfter(failures), asked ?? 0);
}
