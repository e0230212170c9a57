import type { Socket } from 'bun';
import type { Client } from './client.ts';
import { eventually, hangMs } from './eventually.ts';
import { eventsAfter } from './people.ts';

/** One block of a stream. */
export interface Frame {
  readonly text: string;
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  readonly retry: string | undefined;
}

/** An event or a signal that was read from a stream. */
export interface Told {
  /** Undefined for a signal. */
  readonly event_id: number | undefined;
  readonly event: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The text that it was parsed from. */
  readonly body: string;
}

export interface StreamQuery {
  readonly after?: number;
  readonly chat_id?: number;
  readonly events?: readonly string[];
}

type Headed = Readonly<Record<string, string>>;
type Whoever = Pick<Client, 'url' | 'token'>;

/** Returns the URL of a stream. */
export function streamUrl(url: string, query: object = {}): string {
  const address = new URL(`${url}/api/events.php?action=stream`);
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) address.searchParams.append(name, String(one));
  }
  return address.href;
}

/**
 * Reads a stream over a connection of its own. It can stop reading, so that bytes queue in the network and then at the
 * server, and it can close the connection.
 */
export class EventReader {
  readonly frames: Frame[] = [];
  readonly told: Told[] = [];
  /** The presence of others, apart from the rest: it comes whenever somebody opens a stream. */
  readonly presence: Told[] = [];
  /** Signals about deliveries, likewise: they come whenever a webhook is tried. */
  readonly deliveryChanges: Told[] = [];
  status = 0;
  readonly headers = new Headers();
  /** The received bytes. */
  received = 0;
  /** The way the server ended it. Undefined while it is open, or if the client closed it. */
  end: 'whole' | 'broken' | undefined;
  /** The last event id, which a browser would send as `Last-Event-ID`. */
  lastEventId: string | undefined;
  #socket: Socket | undefined;
  #isHeadDone = false;
  #raw = Buffer.alloc(0);
  #text = '';
  readonly #decoder = new TextDecoder();
  readonly #waiting = new Set<() => void>();

  /** Opens a stream. Resolves with the head of the response. */
  static async open(address: string, headers: Headed = {}): Promise<EventReader> {
    const reader = new EventReader();
    const { hostname, port, host, pathname, search } = new URL(address);
    reader.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => reader.#take(bytes),
        close: () => reader.#closed(),
        error: () => {},
      },
    });
    const head = Object.entries({ Host: host, Accept: 'text/event-stream', ...headers });
    const lines = [`GET ${pathname}${search} HTTP/1.1`, ...head.map(([name, value]) => `${name}: ${value}`)];
    reader.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await reader.until('the answer has begun', () => reader.#isHeadDone || reader.end !== undefined);
    return reader;
  }

  /** The frame that opens every stream. */
  get opening(): Frame {
    const [first] = this.frames;
    if (!first) throw new Error('nothing has been read yet');
    return first;
  }

  /** The events of the log that were received. */
  get events(): Told[] {
    return this.told.filter(({ event_id }) => event_id !== undefined);
  }

  get eventIds(): number[] {
    return this.events.map(({ event_id }) => Number(event_id));
  }

  get signals(): Told[] {
    return this.told.filter(({ event_id }) => event_id === undefined);
  }

  /** The texts of the messages that were received. */
  get contents(): unknown[] {
    return this.told.filter(({ event }) => event === 'new_message').map(({ data }) => data.content);
  }

  /** The received events and signals as lines: the name, and the text of a message. */
  get lines(): string[] {
    return this.told.map(({ event, data }) => (data.content === undefined ? event : `${event} ${data.content}`));
  }

  /** Waits until a condition holds. */
  async until(what: string, isSo: (reader: EventReader) => boolean): Promise<this> {
    const so = Promise.withResolvers<void>();
    const look = () => {
      if (isSo(this)) so.resolve();
    };
    const tooLate = () => {
      const last = this.lines.slice(-10).map((line) => line.slice(0, 40));
      so.reject(new Error(`waited in vain: ${what}; told ${this.told.length}, ended ${this.end}: ${last}`));
    };
    const late = setTimeout(tooLate, hangMs);
    this.#waiting.add(look);
    look();
    await so.promise.finally(() => {
      clearTimeout(late);
      this.#waiting.delete(look);
    });
    return this;
  }

  /** Waits until `count` events were received. */
  untilTold(count: number): Promise<this> {
    return this.until(`${count} were told`, ({ told }) => told.length >= count);
  }

  untilEnded(): Promise<this> {
    return this.until('the server ended it', ({ end }) => end !== undefined);
  }

  /** Stops reading until `readOn`. */
  pause(): void {
    this.#socket?.pause();
  }

  readOn(): void {
    this.#socket?.resume();
  }

  /** Reads at least `bytes` more, and stops until `readOn`. */
  async sip(bytes: number): Promise<void> {
    const enough = this.received + bytes;
    this.readOn();
    await this.until(`${bytes} bytes more came`, ({ received }) => received >= enough);
    this.pause();
  }

  /** Closes the connection abruptly. */
  breakOff(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.terminate();
  }

  #closed(): void {
    if (this.#socket && this.end === undefined) this.#ends('broken');
  }

  #ends(how: 'whole' | 'broken'): void {
    this.end = how;
    this.#look();
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }

  #take(bytes: Buffer): void {
    if (!this.#socket) return;
    this.received += bytes.length;
    this.#raw = this.#raw.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#raw, bytes]);
    if (!this.#isHeadDone && !this.#takeHead()) return;
    while (this.#takeChunk());
    this.#look();
  }

  #takeHead(): boolean {
    const end = this.#raw.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [first = '', ...lines] = this.#raw.toString('latin1', 0, end).split('\r\n');
    this.status = Number(first.split(' ')[1]);
    for (const line of lines) this.headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1));
    this.#raw = this.#raw.subarray(end + 4);
    this.#isHeadDone = true;
    // A stream that ended at once has an empty response, and an error a short one.
    if (this.headers.get('transfer-encoding') !== 'chunked') this.#ends('whole');
    return this.end === undefined;
  }

  #takeChunk(): boolean {
    const lineEnd = this.#raw.indexOf('\r\n');
    if (lineEnd < 0) return false;
    const size = Number.parseInt(this.#raw.toString('latin1', 0, lineEnd), 16);
    const begin = lineEnd + 2;
    if (this.#raw.length < begin + size + 2) return false;
    this.#text += this.#decoder.decode(this.#raw.subarray(begin, begin + size), { stream: true });
    this.#raw = this.#raw.subarray(begin + size + 2);
    if (size === 0) this.#ends('whole');
    this.#takeFrames();
    return size > 0;
  }

  #takeFrames(): void {
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) this.#takeFrame(block);
  }

  #takeFrame(text: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'ms').exec(text)?.[1]?.split('\n')[0];
    const frame = { text, id: field('id'), event: field('event'), data: field('data'), retry: field('retry') };
    const apart = { presence_changed: this.presence, deliveries_changed: this.deliveryChanges };
    const own = apart[frame.event as keyof typeof apart] as Told[] | undefined;
    if (!own) this.frames.push(frame);
    this.lastEventId = frame.id ?? this.lastEventId;
    if (frame.event === undefined || frame.data === undefined) return;
    const body = JSON.parse(frame.data) as Pick<Told, 'event' | 'timestamp' | 'data'>;
    const told = { ...body, event_id: frame.id === undefined ? undefined : Number(frame.id), body: frame.data };
    (own ?? this.told).push(told);
  }
}

const bearer = (token: string): Headed => ({ Authorization: `Bearer ${token}` });

/** Opens a stream that must succeed, and reads its first frame. */
export async function listen(who: Whoever, query: StreamQuery = {}, headers: Headed = {}): Promise<EventReader> {
  const reader = await EventReader.open(streamUrl(who.url, query), { ...bearer(who.token), ...headers });
  if (reader.status !== 200) throw new Error(`the stream was refused: ${reader.status}`);
  return reader.until('it has opened', ({ frames }) => frames.length > 0);
}

/** Reconnects like a browser, with the last event id. */
export const comeBack = (who: Whoever, lastEventId: string | undefined, query: StreamQuery = {}) =>
  listen(who, query, lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId });

/** Returns the events of a user after a cursor, in the form of a stream. */
export async function logged(
  who: Client,
  after: number,
  filter: { chat_id?: number } = {},
): Promise<Omit<Told, 'body'>[]> {
  return (await eventsAfter(who, after, filter)).map(({ event_id, event, timestamp, data }) => ({
    event_id,
    event,
    timestamp,
    data,
  }));
}

/** Drops the text of an event. */
export const parsed = (told: readonly Told[]): Omit<Told, 'body'>[] => told.map(({ body, ...rest }) => rest);

/** Returns the metrics of a server by name. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** Waits until a server has `count` open streams. */
export const streamsOpen = (url: string, count: number): Promise<true> =>
  eventually(`${count} streams are open`, async () => (await metric(url, 'parley_streams')) === count || undefined);

/** Returns the ids of the events of a user after a cursor. */
export const loggedIds = async (who: Client, after: number): Promise<number[]> =>
  (await logged(who, after)).map(({ event_id }) => Number(event_id));

/** Creates a group. */
export const groupOf = async (by: Client, ...others: Client[]): Promise<number> =>
  (await by.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;

/** Sends `count` messages, several at a time. */
export async function fill(by: Client, chat_id: number, count: number, content: string): Promise<void> {
  const together = 4;
  const send = () => by.ok('messages.send_message', { chat_id, content });
  for (let sent = 0; sent < count; sent += together) await Promise.all(Array.from({ length: together }, send));
}
