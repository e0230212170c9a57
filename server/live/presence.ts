import type { Presence, TokenId, UserId } from '@parley/contract';
import { maxLiveParticipants } from '../domain/live-state.ts';
import { Loop } from '../lib/loop.ts';
import { RecentMap } from '../lib/recent-map.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import { type Audience, audiencesOf } from '../store/access/presence.ts';
import type { Engine } from '../store/engine/engine.ts';
import { Clients } from './clients.ts';
import { Peers } from './peers.ts';
import type { Streams } from './streams.ts';

/** A user without streams for less than this is not offline: clients reconnect after 1 to 2 seconds. */
const graceMs = 5_000;

/** Another change of the same user waits this long. */
const pauseMs = 3_000;

/** Changes are collected for this time, and then told together: a query for each would cost as much as telling it. */
const delayMs = 250;

const sweepMs = 1_000;

/** The share of the time for changes: when a server starts, all users change. */
const timeShare = 0.25;

/** Users whose changes are told in one step. */
const maxBatch = 50;

/** Chats that one step looks at: some milliseconds. A user with more is told in so many of them, direct chats first. */
const maxChats = 4_000;

interface PresenceDeps {
  readonly engine: Engine;
  readonly monotonic: () => number;
  readonly log: Log;
  /** The name of this process. */
  readonly node: string;
  /** Sends a message to the other processes. */
  readonly publish: (text: string) => void;
  readonly now: () => number;
  /** The streams of this process. */
  readonly streams: Streams;
}

/**
 * Knows who is online, in memory only. Each process combines its own clients with the states that the others send, and tells its
 * own streams what has changed. So a change that two processes notice is told once to everyone.
 */
export class LivePresence {
  readonly #deps: PresenceDeps;
  readonly #clients: Clients;
  readonly #peers: Peers;
  readonly #loop: Loop;
  /** The last presence that was told. Absent: offline. */
  readonly #told = new Map<UserId, Presence>();
  readonly #toldAt = new RecentMap<UserId, number>(pauseMs);
  /** Users whose presence may have changed, and when to look. */
  readonly #due = new Map<UserId, number>();
  /** Users whose presence here was changed since the other processes were told. */
  readonly #unsent = new Set<UserId>();

  constructor(deps: PresenceDeps) {
    const { node, monotonic, publish, log } = deps;
    this.#deps = deps;
    this.#clients = new Clients(deps.streams, graceMs);
    this.#peers = new Peers({
      node,
      monotonic,
      publish,
      own: this.#clients,
      changed: (userId) => this.#look(userId),
      clientChanged: (...change) => this.#setAway(...change),
    });
    const outcomes = new FailureLog(log, 'presence_failed');
    this.#loop = new Loop({ step: () => this.#step(), outcomes, monotonic, sweepMs, delayMs, timeShare });
  }

  /** Returns the presence that was told last, which a client keeps up to date with the signals after it. */
  of(userId: UserId): Presence {
    return this.#told.get(userId) ?? 'offline';
  }

  /** Returns those who are not offline, as others were told. */
  present(): Iterable<UserId> {
    return this.#told.keys();
  }

  /** Returns whether a user is at a client, at any process. Hiding changes nothing here. */
  isAtClient(userId: UserId): boolean {
    return this.#current(userId) === 'online';
  }

  /** Returns whether a user has a stream, at any process. */
  hasStream(userId: UserId): boolean {
    return this.#current(userId) !== 'offline';
  }

  /** A stream of a user at this process has opened or ended. */
  changedHere(userId: UserId): void {
    this.#clients.streamsChanged(userId, this.#deps.monotonic());
    this.#unsent.add(userId);
    this.#look(userId);
  }

  /** A client says whether its user is away. The stream of the client may be at another process. */
  setAway(userId: UserId, tokenId: TokenId, isAway: boolean): void {
    this.#setAway(userId, tokenId, isAway);
    this.#peers.clientChanged(userId, tokenId, isAway);
  }

  /** A user has committed to hide their presence or to show it. */
  recheck(userId: UserId): void {
    this.#look(userId);
    this.#peers.recheck(userId);
  }

  /** Takes a message of another process. */
  hear(text: string): void {
    this.#peers.hear(text);
    this.#loop.wake();
  }

  /** The bus has connected. A user may have hidden meanwhile. */
  busConnected(): void {
    this.#peers.connected();
    for (const userId of this.#told.keys()) this.#look(userId);
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    this.#peers.stop();
  }

  #setAway(userId: UserId, tokenId: TokenId, isAway: boolean): void {
    const before = this.#clients.presenceOf(userId);
    this.#clients.setAway(userId, tokenId, isAway, this.#deps.monotonic());
    if (this.#clients.presenceOf(userId) !== before) this.changedHere(userId);
  }

  #look(userId: UserId): void {
    const now = this.#deps.monotonic();
    const isLeaving = this.#current(userId) === 'offline' && this.#told.has(userId);
    const pausedUntil = (this.#toldAt.get(userId, now) ?? Number.NEGATIVE_INFINITY) + pauseMs;
    this.#due.set(userId, Math.max(isLeaving ? now + graceMs : now, pausedUntil));
    this.#loop.wake();
  }

  /** Returns the presence at all processes, whether it is hidden or not. */
  #current(userId: UserId): Presence {
    const here = this.#clients.presenceOf(userId);
    if (here === 'online') return here;
    const elsewhere = this.#peers.presenceOf(userId);
    return elsewhere === 'offline' ? here : elsewhere;
  }

  /** Tells the next changes. Returns whether there are more. */
  async #step(): Promise<boolean> {
    this.#tellPeers();
    const now = this.#deps.monotonic();
    const batch: UserId[] = [];
    for (const [userId, at] of this.#due) if (at <= now && batch.push(userId) === maxBatch) break;
    if (batch.length === 0) return false;
    for (const userId of batch) this.#due.delete(userId);
    try {
      const audiences = await this.#audiencesOf(batch);
      for (const userId of batch) {
        const audience = audiences.get(userId);
        if (audience) await this.#tell(userId, audience, now);
        else this.#lookAgain(userId, now);
      }
      return batch.length === maxBatch || audiences.size < batch.length;
    } catch (error) {
      for (const userId of batch) this.#lookAgain(userId, now);
      throw error;
    }
  }

  #lookAgain(userId: UserId, at: number): void {
    if (!this.#due.has(userId)) this.#due.set(userId, at);
  }

  /** Returns the audiences of at least the first of the users: of fewer, if they have too many chats. */
  async #audiencesOf(userIds: readonly UserId[]): Promise<Map<UserId, Audience>> {
    const limits = { maxParticipants: maxLiveParticipants, maxChats };
    const { audiences, isWhole } = await audiencesOf(this.#deps.engine, userIds, limits);
    if (isWhole || userIds.length === 1) return audiences;
    return this.#audiencesOf(userIds.slice(0, Math.ceil(userIds.length / 4)));
  }

  #tellPeers(): void {
    const changed = new Map([...this.#unsent].map((userId) => [userId, this.#clients.presenceOf(userId)]));
    this.#unsent.clear();
    this.#peers.beat(changed);
  }

  async #tell(userId: UserId, { isHidden, chatIds }: Audience, now: number): Promise<void> {
    // Something has changed since the query. A disconnect, for example, is told later or not at all.
    if (this.#due.has(userId)) return;
    const presence = isHidden ? 'offline' : this.#current(userId);
    if (presence === this.of(userId)) return;
    if (presence === 'offline') this.#told.delete(userId);
    else this.#told.set(userId, presence);
    this.#toldAt.set(userId, now, now);
    const signal = { event: 'presence_changed', data: { user_id: userId, presence } } as const;
    await this.#deps.streams.signalIn(chatIds, signal, this.#deps.now());
  }
}
