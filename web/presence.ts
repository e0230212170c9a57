import type { Client } from '@parley-chat/sdk';

export interface IdleDeps {
  readonly client: Client;
  readonly now: () => number;
  /** Tells the other tabs of the user that somebody is here, and listens to them: they share one session. */
  readonly channel: BroadcastChannel;
  readonly onError: (error: unknown) => void;
}

/** Somebody who does nothing for so long is away. */
export const idleMs = 5 * 60_000;

/** Other tabs are told about activity at most this often. */
const tellMs = 20_000;

/** Tells the server when the user is away, and when they are back. */
export class Idle {
  readonly #deps: IdleDeps;
  #activeAt: number;
  #toldAt = 0;
  #isAway = false;

  constructor(deps: IdleDeps) {
    this.#deps = deps;
    this.#activeAt = deps.now();
    deps.channel.addEventListener('message', () => this.#active());
  }

  /** The user has done something here. */
  touch(): void {
    const now = this.#deps.now();
    if (now - this.#toldAt >= tellMs) {
      this.#toldAt = now;
      this.#deps.channel.postMessage('active');
    }
    this.#active();
  }

  /** Notices that nothing has happened for a while. To be called now and then. */
  check(): void {
    if (!this.#isAway && this.#deps.now() - this.#activeAt >= idleMs) this.#set(true);
  }

  /** What the server knew ended with the stream. */
  reconnected(): void {
    if (this.#isAway) this.#set(true);
  }

  #active(): void {
    this.#activeAt = this.#deps.now();
    if (this.#isAway) this.#set(false);
  }

  #set(isAway: boolean): void {
    this.#isAway = isAway;
    this.#deps.client.users.setPresence({ presence: isAway ? 'away' : 'online' }).catch(this.#deps.onError);
  }
}
