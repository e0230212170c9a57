import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '@parley/contract';
import { ApiError, TransportError } from '@parley/sdk';
import { pauseAfter } from './backoff.ts';
import { plainLine } from './failure.ts';
import { oneLine } from './terminal.ts';
import type { Running } from './until-stopped.ts';

/** A server that says nothing at all for so long is away, whatever its sockets do. */
const longestAnswerMs = 30_000;

/** Refusals that pass by themselves. */
const passing: readonly ErrorCode[] = ['rate_limited', 'unavailable', 'internal'];

/** Makes calls to a server that may be away for a while, such as for a restart: that is said once, and so is its return. */
export class Patience {
  readonly #running: Running;
  #away = false;

  constructor(running: Running) {
    this.#running = running;
  }

  /** Makes the call until it is carried out, or refused for good. */
  async call<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#running;
    for (let failures = 1; ; failures++) {
      try {
        const answer = await call(AbortSignal.any([signal, AbortSignal.timeout(longestAnswerMs)]));
        await this.#isBack();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (!maySucceedLater(error)) throw error;
        if (!isRateLimit(error)) await this.#isAway(error);
        await sleep(secondsBefore(failures, error) * 1_000, undefined, { signal });
      }
    }
  }

  async #isAway(error: unknown): Promise<void> {
    if (this.#away) return;
    this.#away = true;
    await this.#running.say(oneLine(`The server is away; trying until it is back. ${plainLine(error)}`));
  }

  async #isBack(): Promise<void> {
    if (!this.#away) return;
    this.#away = false;
    await this.#running.say('The server is back.');
  }
}

function maySucceedLater(error: unknown): boolean {
  if (error instanceof ApiError) return passing.includes(error.code);
  return error instanceof TransportError || (error instanceof DOMException && error.name === 'TimeoutError');
}

const isRateLimit = (error: unknown) => error instanceof ApiError && error.code === 'rate_limited';

function secondsBefore(failures: number, error: unknown): number {
  const asked = error instanceof ApiError || error instanceof TransportError ? error.retryAfter : undefined;
  return Math.max(pauseAfter(failures), asked ?? 0);
}
