import { eventNames, ParleyError, type Signal, type UserId } from '@parley/contract';
import type { LiveQuery, LiveStream } from '../domain/live.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import type { Committed, Engine, LogEntry } from '../store/engine.ts';
import { visibleEvents } from '../store/events.ts';
import { requireEverMember, requireKept, requireReached } from '../store/log-cursor.ts';
import { nextPiece } from '../store/log-pieces.ts';
import { staysOf } from '../store/members.ts';
import { validTokens } from '../store/tokens.ts';
import { Feed } from './feed.ts';
import { type Frame, frameOf, signalFrame } from './frame.ts';
import { Readers } from './readers.ts';
import { Stream, type StreamEnd, type StreamParts } from './stream.ts';

/** How often, at least, it is looked for streams that are quiet or stalled for too long, and for access that has expired. */
const beatMs = 1_000;

/** Events that are read from the log at a time, for one reader. */
const pageSize = 100;

/** Events that are looked through for such a page at most: those that a filter leaves out take time too. */
const mostSearched = 10_000;

/** Pages that are read at once: whoever reads a long log does not keep the database from everybody else. */
const pagesAtOnce = 2;

/** Streams that are written to before others have their turn. */
const turn = 256;

/** Tokens that are looked up at once. */
const mostTokens = 1_000;

/** Readers come back after this time and up to as much again, by chance: those of a server that stops do not come all at once. */
const retryMs = 1_000;

interface StreamsParts {
  readonly engine: Engine;
  readonly now: () => number;
  /** Milliseconds on a clock that nobody sets. */
  readonly monotonic: () => number;
  /** A number from 0 up to 1. */
  readonly chance: () => number;
  /** Streams at most; one user gets half of them. */
  readonly most: number;
  /** How long a lost wake-up, or an end of access that nobody told, may go unnoticed. */
  readonly sweepMs: number;
  /** Something is written to every stream at least this often. */
  readonly quietMs: number;
  /** A reader that takes in nothing for this long is cut off. */
  readonly stallMs: number;
  readonly log: Log;
  readonly gauges: { streams(open: number): void; streamed(events: number): void; streamEnded(why: string): void };
}

/** The live streams of this process. */
export class Streams {
  readonly #parts: StreamsParts;
  readonly #feed: Feed;
  readonly #readers: Readers;
  readonly #streams = new Set<Stream>();
  readonly #pages = new Semaphore(pagesAtOnce);
  /** One for all streams: there are many of them. */
  readonly #streamParts: StreamParts;
  readonly #beating: ReturnType<typeof setInterval>;
  readonly #sweeping: ReturnType<typeof setInterval>;
  readonly #unchecked: FailureLog;
  #stopped = false;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
    const untold = new FailureLog(parts.log, 'events not told to streams yet');
    this.#unchecked = new FailureLog(parts.log, 'access of streams not checked');
    this.#feed = new Feed({
      engine: parts.engine,
      tell: (event) => this.#tell(event),
      trouble: untold,
    });
    this.#readers = new Readers({
      stays: (userId, since) => staysOf(parts.engine, userId, since),
      begin: () => this.#feed.open(),
      position: () => this.#feed.position,
      emptied: () => this.#feed.close(),
    });
    this.#streamParts = {
      feed: this.#feed,
      read: (...range) => this.#read(...range),
      monotonic: parts.monotonic,
      quietMs: parts.quietMs,
      stallMs: parts.stallMs,
      retryMs: () => Math.round(retryMs * (1 + parts.chance())),
      ended: (...end) => this.#ended(...end),
    };
    this.#beating = setInterval(() => this.#beat(), Math.min(beatMs, parts.quietMs)).unref();
    this.#sweeping = setInterval(() => {
      this.#feed.look();
      void this.recheck();
    }, parts.sweepMs).unref();
  }

  /** Whether there is anybody to tell anything. */
  get isListening(): boolean {
    return this.#readers.count > 0;
  }

  /** A stretch of the log was committed, here or elsewhere. */
  committed(stretch: Committed): void {
    this.#feed.offer(stretch);
  }

  /** Something was committed elsewhere. */
  look(): void {
    this.#feed.look();
  }

  /** Makes a stream ready, or refuses it. It counts from now on, and has to be followed or left. */
  async open(query: LiveQuery): Promise<LiveStream> {
    const { userId } = query;
    this.#mindLimits(userId);
    await this.#readers.expect(userId);
    try {
      await this.#requireAnswerable(query);
      this.#mindStopping();
    } catch (error) {
      this.#readers.release(userId);
      throw error;
    }
    const stream = this.#add(query);
    // Access may have ended on the way here, where nobody could find the stream.
    await this.#endInvalid([stream]).catch((cause) => stream.end('failed', cause));
    return stream;
  }

  /** Tells a signal to those who are in its chat. */
  signal(signal: Signal, at: number): void {
    if (this.#readers.count > 0) void this.#offer(signalFrame(signal, at));
  }

  /** Some access of these users has ended. Where it cannot be found out which, all their streams end: they can come back. */
  async accessEnded(userIds: readonly UserId[]): Promise<void> {
    const streams = userIds.flatMap((id) => [...this.#readers.streamsOf(id)]);
    await this.#endInvalid(streams).catch((cause) => {
      for (const stream of streams) stream.end('access ended', cause);
    });
  }

  /** Ends the streams whose access has ended, without anybody having said so. */
  async recheck(): Promise<void> {
    await this.#endInvalid([...this.#streams]).then(this.#unchecked.succeeded, this.#unchecked.failed);
  }

  async #endInvalid(streams: readonly Stream[]): Promise<void> {
    const byToken = Map.groupBy(streams, ({ query }) => query.tokenId);
    const tokens = [...byToken.keys()];
    for (let start = 0; start < tokens.length; start += mostTokens) {
      const asked = tokens.slice(start, start + mostTokens);
      const valid = await validTokens(this.#parts.engine, asked, this.#parts.now());
      for (const tokenId of asked) {
        if (!valid.has(tokenId)) for (const stream of byToken.get(tokenId) ?? []) stream.end('access ended');
      }
    }
  }

  /** Ends all streams; their readers come back to another process, or to this one when it is there again. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#beating);
    clearInterval(this.#sweeping);
    for (const stream of [...this.#streams]) stream.end('stopping');
  }

  #mindLimits(userId: UserId): void {
    const { most } = this.#parts;
    this.#mindStopping();
    if (this.#readers.count >= most) {
      throw new ParleyError('unavailable', `This server has ${most} streams open, which is all it takes. Try again.`);
    }
    const own = this.#readers.countOf(userId);
    if (own >= Math.max(1, most / 2)) {
      throw new ParleyError('rate_limited', `You have ${own} streams open, which is all you get. Close some.`);
    }
  }

  #mindStopping(): void {
    if (this.#stopped) throw new ParleyError('unavailable', 'This server is stopping. Try again.');
  }

  async #requireAnswerable({ userId, chatId, after }: LiveQuery): Promise<void> {
    const { engine } = this.#parts;
    if (chatId !== undefined) await requireEverMember(engine, chatId, userId);
    if (after === undefined) return;
    await requireReached(engine, after);
    await requireKept(engine, after);
  }

  async #read({ userId, chatId, names }: LiveQuery, after: number, upTo: number) {
    const { engine } = this.#parts;
    const events = names && eventNames.filter((name) => names.has(name));
    if (events?.length === 0) return { events: [], reached: upTo };
    const { found, end } = await this.#pages.run(async () => {
      const piece = await nextPiece(engine, after, upTo, mostSearched);
      const range = { userId, after: piece.after, upTo: piece.end, limit: pageSize, chatId, events };
      return { found: await visibleEvents(engine, range), end: piece.end };
    });
    await requireKept(engine, after);
    return { events: found, reached: (found.length === pageSize && found.at(-1)?.event_id) || end };
  }

  async #tell(event: LogEntry): Promise<void> {
    this.#readers.before(event);
    await this.#offer(frameOf(event));
    this.#readers.after(event);
  }

  async #offer(frame: Frame): Promise<void> {
    let count = 0;
    for (const stream of this.#readers.streamsIn(frame.chatId)) {
      stream.offer(frame);
      if (++count % turn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#parts.gauges.streamed(count);
  }

  #add(query: LiveQuery): Stream {
    const stream = new Stream(this.#streamParts, query);
    this.#readers.add(stream);
    this.#streams.add(stream);
    this.#parts.gauges.streams(this.#streams.size);
    return stream;
  }

  #ended(stream: Stream, why: StreamEnd, cause: unknown): void {
    const { userId, tokenId } = stream.query;
    this.#readers.remove(stream);
    this.#readers.release(userId);
    this.#streams.delete(stream);
    const { gauges, log } = this.#parts;
    gauges.streams(this.#streams.size);
    gauges.streamEnded(why);
    const level = why === 'failed' ? 'warn' : 'info';
    log.write(level, 'stream ended', {
      user_id: userId,
      token_id: tokenId,
      why,
      seconds: stream.age,
      events: stream.count,
      cause,
    });
  }

  #beat(): void {
    const now = this.#parts.now();
    for (const stream of this.#streams) {
      const { expiresAt } = stream.query;
      if (expiresAt !== null && expiresAt <= now) stream.end('access ended');
      else stream.beat();
    }
  }
}
