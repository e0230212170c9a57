import type { Client } from '@parley-chat/sdk';

export interface IdleDeps {
  readonly client: Client;
  readonly now: () => number;
  /** Tells the other tabs of the user that somebody is here, and listens to them: they share one session. */
  readonly channel: BroadcastChannel;
  /** Returns whether this tab has the stream of all tabs. It alone tells the server. */
  readonly isTeller: () => boolean;
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
    if (!this.#isAway && this.#isIdle()) this.#set(true);
  }

  /** The server forgets the presence with the stream, or knows that of another tab. */
  reconnected(): void {
    this.#set(this.#isIdle());
  }

  #isIdle(): boolean {
    return this.#deps.now() - this.#activeAt >= idleMs;
  }

  #active(): void {
    this.#activeAt = this.#deps.now();
    if (this.#isAway) this.#set(false);
  }

  #set(isAway: boolean): void {
    const { client, isTeller, onError } = this.#deps;
    this.#isAway = isAway;
    if (isTeller()) client.users.setPresence({ presence: isAway ? 'away' : 'online' }).catch(onError);
  }
}
