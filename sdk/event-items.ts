import type { ClientInput, ClientOutput, EventName, NewEvent, Signal, SignalName } from '@parley/contract';
import { TransportError } from './errors.ts';
import type { Block } from './event-blocks.ts';
import type { OtherName } from './other-name.ts';

type Logged = ClientOutput<'events.list'>['events'][number];
type Named<U, N> = Extract<U, { readonly event: N }>;

/** What a stream can be asked for. */
export type StreamedName = NonNullable<ClientInput<'events.stream'>['events']>[number];

/** An event of the log, as `events.list` has it. Comparing `event` with a name gives `data` its type. */
export type StreamedEvent<E extends EventName = EventName> = Named<NewEvent, E> &
  Readonly<Pick<Logged, 'event_id' | 'timestamp'>>;

/** A signal. The log does not have it, so it has no id and does not come again. */
export type StreamedSignal<S extends SignalName = SignalName> = Named<Signal, S> &
  Readonly<Pick<Logged, 'timestamp'>> & { readonly event_id?: undefined };

type Unknown = Readonly<Omit<Logged, 'event' | 'event_id'>> & { readonly event: OtherName };

/** An event that this version of the SDK has no type for: a newer server may send one. */
export type UnknownStreamedEvent = Unknown & Readonly<Pick<Logged, 'event_id'>>;

/** The same for a signal. */
export type UnknownStreamedSignal = Unknown & { readonly event_id?: undefined };

/** What comes of the names that were asked for, and of all signals where these were. */
export type Streamed<N extends StreamedName | OtherName = StreamedName | OtherName, S extends boolean = boolean> =
  | StreamedEvent<Extract<N, EventName>>
  | StreamedSignal<Extract<N, SignalName> | (S extends true ? SignalName : never)>
  | (OtherName extends N ? UnknownStreamedEvent | (S extends true ? UnknownStreamedSignal : never) : never);

/** What a block tells: the place in the log that the stream has come to, an item, or both. */
export interface Told {
  readonly place: number | undefined;
  readonly item: Streamed | undefined;
}

/** Reads a block; what cannot be read is a stream that something on the way has damaged. */
export function readBlock({ id, data }: Block): Told {
  const place = id === undefined ? undefined : readPlace(id);
  if (data === undefined) return { place, item: undefined };
  return { place, item: { ...(place !== undefined && { event_id: place }), ...readBody(data) } as Streamed };
}

function readPlace(id: string): number {
  if (/^\d{1,16}$/.test(id) && Number.isSafeInteger(Number(id))) return Number(id);
  throw new TransportError(`The stream has an id that is none: ${JSON.stringify(id.slice(0, 100))}.`);
}

function readBody(text: string): object {
  const body = parse(text);
  const { event, timestamp, data } = (body ?? {}) as Record<string, unknown>;
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (typeof event === 'string' && typeof timestamp === 'string' && isObject) return body as object;
  throw new TransportError('The stream has an event that is not {"event", "timestamp", "data"}.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransportError('The stream has an event that is no JSON.', { cause });
  }
}
