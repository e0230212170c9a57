import type { Streamed } from '@parley-chat/sdk';
import type { Lease } from '../outbox/lease.ts';
import type { Store } from './store.ts';

/** A report of the leader to the other tabs: the state of its stream, or the next item. */
export interface Report {
  /** A new one for each connection of the stream. */
  readonly connection: string;
  readonly state: Store['connection']['value'];
  /** The cursor before the item. Everything up to it was reported. */
  readonly before: number;
  /** The cursor after the item. It is the same one for a signal and without an item. */
  readonly after: number;
  readonly item?: Streamed;
}

type Note =
  | { readonly kind: 'report'; readonly from: string; readonly report: Report }
  /** Is the leader there, and what is its state? */
  | { readonly kind: 'ask' }
  /** A call of another tab got no response. */
  | { readonly kind: 'suspect' }
  | { readonly kind: 'left'; readonly from: string };

export interface TabsListener {
  /** This tab leads from now on, or no longer. */
  roleChanged(): void;
  /** Another tab asks the leader for its state. */
  asked(): void;
  /** A call of another tab got no response. Only the leader is told. */
  suspect(): void;
}

/** A leader that does not answer the first question of a tab within this time is gone, frozen or very busy. */
const answerMs = 1_000;

const unconnected: Report = { connection: '', state: 'connecting', before: 0, after: 0 };

/**
 * The tabs of one user in one browser. One of them leads: it has the stream, and reports to the others. A browser opens only
 * six connections to a host over HTTP/1.1.
 *
 * A lease says who leads. Whether the leader is still there is found out by asking it, because browsers delay the timers of
 * hidden tabs by up to a minute, but not their messages. A tab that takes the lead by mistake costs a reconnect and no more:
 * each tab continues at its own cursor.
 */
export class Tabs {
  readonly #id: string;
  readonly #lease: Lease;
  readonly #channel: BroadcastChannel;
  #listener: TabsListener | undefined;
  #isLeader = false;
  #isStopped = false;
  /** The tab that leads, as far as this one knows. */
  #leader: string | undefined;
  /** Whether the leader has said something since it was last asked. */
  #isHeard = false;
  #firstCheck: ReturnType<typeof setTimeout> | undefined;
  #report = unconnected;
  #queue: Report[] = [];
  #arrived: (() => void) | undefined;

  constructor(id: string, lease: Lease, channel: BroadcastChannel) {
    this.#id = id;
    this.#lease = lease;
    this.#channel = channel;
    channel.addEventListener('message', this.#receive);
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Resolves once it is known whether this tab leads. */
  async start(listener: TabsListener): Promise<void> {
    this.#listener = listener;
    await this.#take();
    if (!this.#isLeader) this.#firstCheck = setTimeout(() => this.check(), answerMs);
  }

  /** Extends the lead, or looks whether the leader is still there. To be called every few seconds. */
  check(): void {
    if (this.#isLeader) void this.#extend();
    else if (!this.#isHeard) void this.#take(this.#leader);
    else {
      this.#isHeard = false;
      this.#post({ kind: 'ask' });
    }
  }

  /** Gives the lead to the next tab, because this one is about to go. */
  leave(): void {
    if (!this.#isLeader) return;
    this.#lease.release().catch(() => {});
    this.#post({ kind: 'left', from: this.#id });
    // The page may come back from the cache of the browser. It leaves the others some time.
    this.#isHeard = true;
    this.#setRole(false);
  }

  stop(): void {
    this.leave();
    clearTimeout(this.#firstCheck);
    this.#isStopped = true;
    this.#channel.removeEventListener('message', this.#receive);
  }

  /** Tells the others the state of the stream, or the next item. They are told the last state again when they ask. */
  report(change: Partial<Report>): void {
    const report = { ...this.#report, ...change };
    const { item: _, ...state } = report;
    this.#report = { ...state, before: state.after };
    if (this.#isLeader) this.#post({ kind: 'report', from: this.#id, report });
  }

  /** Asks the leader for its state, and returns all reports from now on. Ends with the reason of the signal. */
  async *reports(signal: AbortSignal): AsyncGenerator<Report, never> {
    this.#queue = [];
    this.#post({ kind: 'ask' });
    const arrived = () => this.#arrived?.();
    signal.addEventListener('abort', arrived);
    for (;;) {
      signal.throwIfAborted();
      const report = this.#queue.shift();
      if (report) yield report;
      else {
        await new Promise<void>((resolve) => {
          this.#arrived = resolve;
        });
      }
    }
  }

  /** Tells the leader that a call got no response. */
  suspect(): void {
    this.#post({ kind: 'suspect' });
  }

  readonly #receive = ({ data: note }: MessageEvent<Note>): void => {
    if (this.#isLeader) this.#receiveAsLeader(note);
    else if (note.kind === 'report') {
      clearTimeout(this.#firstCheck);
      this.#isHeard = true;
      this.#leader = note.from;
      this.#queue.push(note.report);
      this.#arrived?.();
    } else if (note.kind === 'left') void this.#take(note.from);
  };

  #receiveAsLeader({ kind }: Note): void {
    if (kind === 'suspect') this.#listener?.suspect();
    if (kind === 'ask') {
      this.report({});
      this.#listener?.asked();
    }
    // A report is from another tab that leads. One of the two has lost the lease.
    if (kind === 'ask' || kind === 'report') void this.#extend();
  }

  /** Takes the lead if it is free, or if this tab has it. */
  async #take(gone?: string): Promise<void> {
    // Without a database, as after an upgrade in another tab, each tab has a stream of its own.
    const waitMs = await this.#lease.take(gone).catch(() => 0);
    if (this.#isStopped) return;
    if (waitMs > 0) this.#leader = this.#lease.holder;
    else this.#setRole(true);
  }

  /** Extends the lease. A tab that was frozen finds out here that another one leads. */
  async #extend(): Promise<void> {
    const waitMs = await this.#lease.take().catch(() => 0);
    if (waitMs > 0 && !this.#isStopped) this.#setRole(false);
  }

  #setRole(isLeader: boolean): void {
    if (this.#isLeader === isLeader) return;
    this.#isLeader = isLeader;
    this.#report = unconnected;
    this.#listener?.roleChanged();
  }

  #post(note: Note): void {
    if (!this.#isStopped) this.#channel.postMessage(note);
  }
}
