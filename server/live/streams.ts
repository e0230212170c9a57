import {
  type ChatId,
  type ChatSignal,
  eventNames,
  type OwnerSignal,
  ParleyError,
  type Signal,
  type UserId,
} from '@parley/contract';
import type { LiveQuery, LiveStream } from '../domain/live.ts';
import { FairSlots } from '../lib/fair-slots.ts';
import { Loop } from '../lib/loop.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { EventLog } from '../log/event-log.ts';
import type { MembershipIndex } from '../log/membership.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import { validTokens } from '../store/access/tokens.ts';
import type { Engine } from '../store/engine/engine.ts';
import { visibleEvents } from '../store/log/events.ts';
import { requireEverMember, requireKept, requireReached } from '../store/log/log-cursor.ts';
import { nextPiece } from '../store/log/log-pieces.ts';
import { eventFrame, type Frame, signalFrame } from './frames.ts';
import { Stream, type StreamDeps, type StreamEnd } from './stream.ts';
import { Subscribers } from './subscribers.ts';

/** Streams are checked at least this often for silence, for stalled clients and for expired access. */
const beatMs = 1_000;

/** Events that are delivered at a time. */
const maxDelivered = 500;

/** Events that a stream which is behind reads from the database at a time. */
const pageSize = 100;

/** Events that are searched for such a page: those that a filter leaves out take time too. */
const maxSearched = 10_000;

/** Concurrent page reads of all streams together. More would keep the database from everyone else. */
const concurrentPages = 2;

/** Streams that are written to in one turn of the event loop. */
const maxWritesPerTurn = 256;

/** Streams that get a signal about a user. */
const maxWatchers = 1_000;

/** Tokens that one query checks. */
const maxTokens = 1_000;

/** Clients reconnect after this time, plus up to as much again by chance, so that they do not all come at once. */
const retryMs = 1_000;

interface StreamsDeps {
  readonly engine: Engine;
  readonly eventLog: EventLog;
  readonly membership: MembershipIndex;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Returns a number from 0 up to 1. */
  readonly chance: () => number;
  /** Streams of all users. One person, with their bots, may have as many as are free. */
  readonly maxStreams: number;
  /** How long the end of an access may go unnoticed if nothing reports it. */
  readonly sweepMs: number;
  /** Something is written to every stream at least this often. */
  readonly quietMs: number;
  /** A client that reads nothing for this long is disconnected. */
  readonly stallMs: number;
  /** Called when a stream of the user has opened or ended. */
  readonly changed: (userId: UserId) => void;
  readonly log: Log;
  readonly gauges: { streams(open: number): void; streamed(events: number): void; streamEnded(reason: string): void };
}

/**
 * The live streams of this process. While there are any, the event log is followed from the moment when the first one
 * opened, and each event is offered to the streams of everyone who sees it.
 */
export class Streams {
  readonly #deps: StreamsDeps;
  readonly #subscribers: Subscribers;
  readonly #streams = new Set<Stream>();
  /** Streams that are open or about to open, by owner. */
  readonly #slots: FairSlots<UserId>;
  readonly #pages = new Semaphore(concurrentPages);
  /** One object for all streams, because there are many. */
  readonly #streamDeps: StreamDeps;
  readonly #delivery: Loop;
  readonly #beat: ReturnType<typeof setInterval>;
  readonly #recheck: ReturnType<typeof setInterval>;
  readonly #accessChecks: FailureLog;
  /** Resolves once the log is followed; undefined while there is no stream. */
  #following: Promise<void> | undefined;
  /** The event that is being delivered or was delivered last, and up to which event all are delivered. */
  readonly #progress = { position: 0, delivered: 0 };
  #isStopped = false;

  constructor(deps: StreamsDeps) {
    const { eventLog, membership, monotonic, sweepMs, quietMs, stallMs, log } = deps;
    this.#deps = deps;
    this.#slots = new FairSlots(deps.maxStreams);
    this.#accessChecks = new FailureLog(log, 'stream_access_check_failed');
    this.#subscribers = new Subscribers({
      membership,
      start: () => this.#follow(),
      empty: () => {
        this.#following = undefined;
      },
    });
    membership.addConsumer(() => (this.#following ? this.#progress.delivered : Number.POSITIVE_INFINITY));
    this.#streamDeps = {
      progress: this.#progress,
      read: (...range) => this.#read(...range),
      monotonic,
      quietMs,
      stallMs,
      retryMs: () => Math.round(retryMs * (1 + deps.chance())),
      ended: (...end) => this.#ended(...end),
    };
    const outcomes = new FailureLog(log, 'stream_delivery_failed');
    this.#delivery = new Loop({ step: () => this.#deliverNext(), outcomes, monotonic, sweepMs });
    eventLog.subscribe(() => {
      if (this.#following) this.#delivery.wake();
    });
    this.#beat = setInterval(() => this.#beatAll(), Math.min(beatMs, quietMs)).unref();
    this.#recheck = setInterval(() => void this.recheck(), sweepMs).unref();
  }

  /** Opens a stream, which counts from now on, or fails. Its client follows it or leaves it. */
  async open(query: LiveQuery): Promise<LiveStream> {
    const { ownerId } = query;
    this.#requireRoom(ownerId);
    this.#slots.take(ownerId);
    try {
      await this.#reserve(query);
    } catch (error) {
      this.#slots.release(ownerId);
      throw error;
    }
    const stream = new Stream(this.#streamDeps, query);
    this.#subscribers.add(stream);
    this.#streams.add(stream);
    this.#deps.gauges.streams(this.#streams.size);
    this.#deps.changed(query.userId);
    // Access may have ended before the stream could be found.
    await this.#endInvalid([stream]).catch((cause) => stream.end('failed', cause));
    return stream;
  }

  /** Counts a stream of the user, or throws if it may not open. */
  async #reserve(query: LiveQuery): Promise<void> {
    await this.#subscribers.reserve(query.userId);
    try {
      await this.#requireReadable(query);
      this.#requireRunning();
    } catch (error) {
      this.#subscribers.release(query.userId);
      throw error;
    }
  }

  /** Sends a signal to the members of its chat. */
  signal(signal: ChatSignal, at: number): void {
    if (this.#subscribers.count > 0) {
      const { chat_id } = signal.data;
      void this.#offer(signalFrame(signal, at), this.#subscribers.streamsFor(Number.POSITIVE_INFINITY, chat_id));
    }
  }

  /** Sends a signal to one user. */
  signalTo(userId: UserId, signal: OwnerSignal, at: number): void {
    const streams = this.#subscribers.streamsOf(userId);
    if (streams.length > 0) void this.#offer(signalFrame(signal, at), streams);
  }

  /** Returns whether there are streams, open or about to open. */
  get hasStreams(): boolean {
    return this.#subscribers.count > 0;
  }

  /** Returns the users with streams, open or about to open. */
  users(): Iterable<UserId> {
    return this.#subscribers.users();
  }

  streamsOf(userId: UserId): readonly Stream[] {
    return this.#subscribers.streamsOf(userId);
  }

  /** Sends a signal once to everyone who is in one of the chats. */
  async signalIn(chatIds: readonly ChatId[], signal: Signal, at: number): Promise<void> {
    const watching = new Set<Stream>();
    for (const chatId of chatIds) {
      for (const stream of this.#subscribers.streamsFor(Number.POSITIVE_INFINITY, chatId)) watching.add(stream);
      if (watching.size >= maxWatchers) break;
    }
    if (watching.size > 0) await this.#offer(signalFrame(signal, at), watching);
  }

  /** Ends the streams of these users whose access has ended; all their streams if that cannot be checked. */
  async accessEnded(userIds: readonly UserId[]): Promise<void> {
    const streams = userIds.flatMap((id) => this.#subscribers.streamsOf(id));
    await this.#endInvalid(streams).catch((cause) => {
      for (const stream of streams) stream.end('access_ended', cause);
    });
  }

  /** Ends all streams whose access has ended. */
  async recheck(): Promise<void> {
    await this.#endInvalid([...this.#streams]).then(this.#accessChecks.succeeded, this.#accessChecks.failed);
  }

  async #endInvalid(streams: readonly Stream[]): Promise<void> {
    const byToken = Map.groupBy(streams, ({ query }) => query.tokenId);
    const tokens = [...byToken.keys()];
    for (let start = 0; start < tokens.length; start += maxTokens) {
      const checked = tokens.slice(start, start + maxTokens);
      const valid = await validTokens(this.#deps.engine, checked, this.#deps.now());
      for (const tokenId of checked) {
        if (!valid.has(tokenId)) for (const stream of byToken.get(tokenId) ?? []) stream.end('access_ended');
      }
    }
  }

  /** Ends all streams. Their clients reconnect to another process, or to this one after its restart. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#beat);
    clearInterval(this.#recheck);
    for (const stream of [...this.#streams]) stream.end('stopping');
    await this.#delivery.stop();
  }

  /** Follows the log from its newest event on. */
  #follow(): Promise<void> {
    this.#following ??= this.#deps.eventLog.refresh().then((tip) => this.#moveTo(tip));
    return this.#following;
  }

  #requireRoom(ownerId: UserId): void {
    const { maxStreams } = this.#deps;
    this.#requireRunning();
    if (this.#slots.isFull) {
      throw new ParleyError(
        'unavailable',
        `This server has ${maxStreams} streams open, which is its limit. Try again later.`,
      );
    }
    if (this.#slots.mayTake(ownerId)) return;
    const own = this.#slots.heldBy(ownerId);
    throw new ParleyError(
      'rate_limited',
      `You and your bots have ${own} streams open, which is your limit now. Close some.`,
    );
  }

  #requireRunning(): void {
    if (this.#isStopped) throw new ParleyError('unavailable', 'This server is stopping. Try again.');
  }

  async #requireReadable({ userId, chatId, after }: LiveQuery): Promise<void> {
    const { engine } = this.#deps;
    if (chatId !== undefined) await requireEverMember(engine, chatId, userId);
    if (after === undefined) return;
    await requireReached(engine, after);
    await requireKept(engine, after);
  }

  async #read({ userId, chatId, names }: LiveQuery, after: number, upTo: number) {
    const { engine } = this.#deps;
    const events = names && eventNames.filter((name) => names.has(name));
    if (events?.length === 0) return { events: [], reached: upTo };
    const { found, end } = await this.#pages.run(async () => {
      const piece = await nextPiece(engine, after, upTo, maxSearched);
      const range = { userId, after: piece.after, upTo: piece.end, limit: pageSize, chatId, events };
      return { found: await visibleEvents(engine, range), end: piece.end };
    });
    await requireKept(engine, after);
    return { events: found, reached: (found.length === pageSize && found.at(-1)?.event_id) || end };
  }

  /** Delivers the next events. Returns whether there are more. */
  async #deliverNext(): Promise<boolean> {
    await this.#following;
    if (!this.#following) return false;
    const { eventLog, membership } = this.#deps;
    const { events, last } = await eventLog.read(this.#progress.delivered, maxDelivered);
    await membership.advanceTo(last);
    for (const event of events) {
      // All streams may have ended meanwhile, and new ones may have started at a later position.
      if (event.event_id <= this.#progress.position) continue;
      this.#progress.position = event.event_id;
      await this.#offer(eventFrame(event), this.#subscribers.streamsFor(event.event_id, event.chat_id));
      this.#moveTo(event.event_id);
    }
    this.#moveTo(last);
    return last < eventLog.tip;
  }

  #moveTo(position: number): void {
    this.#progress.position = Math.max(this.#progress.position, position);
    this.#progress.delivered = Math.max(this.#progress.delivered, position);
  }

  async #offer(frame: Frame, streams: Iterable<Stream>): Promise<void> {
    let count = 0;
    for (const stream of streams) {
      stream.offer(frame);
      if (++count % maxWritesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#deps.gauges.streamed(count);
  }

  #ended(stream: Stream, reason: StreamEnd, cause: unknown): void {
    const { userId, ownerId, tokenId } = stream.query;
    this.#subscribers.remove(stream);
    this.#subscribers.release(userId);
    this.#slots.release(ownerId);
    this.#streams.delete(stream);
    const { gauges, changed, log } = this.#deps;
    changed(userId);
    gauges.streams(this.#streams.size);
    gauges.streamEnded(reason);
    log.write(reason === 'failed' ? 'warn' : 'info', 'stream_ended', {
      user_id: userId,
      token_id: tokenId,
      reason,
      seconds: stream.age,
      events: stream.count,
      cause,
    });
  }

  #beatAll(): void {
    const now = this.#deps.now();
    for (const stream of this.#streams) {
      const { expiresAt } = stream.query;
      if (expiresAt !== null && expiresAt <= now) stream.end('access_ended');
      else stream.beat();
    }
  }
}
