import { TransportError } from './errors.ts';
import type { ClientInput, ClientOutput } from './methods.ts';
import type { EventData, SignalData } from './operations.ts';
import type { OtherName } from './other-name.ts';
import { parseObject } from './response.ts';
import type { Block } from './sse-parser.ts';

export type EventName = keyof EventData;
export type SignalName = keyof SignalData;

/** An event's name and data. */
export type NewEvent = { [E in EventName]: { readonly event: E; readonly data: EventData[E] } }[EventName];

type Signal = { [S in SignalName]: { readonly event: S; readonly data: SignalData[S] } }[SignalName];

type Logged = ClientOutput<'events.list'>['events'][number];
type Named<U, N> = Extract<U, { readonly event: N }>;

/** The names that a stream accepts. */
export type StreamedName = NonNullable<ClientInput<'events.stream'>['events']>[number];

/** An event of the log, as in `events.list`. Comparing `event` with a name gives `data` its type. */
export type StreamedEvent<E extends EventName = EventName> = Named<NewEvent, E> &
  Readonly<Pick<Logged, 'event_id' | 'timestamp'>>;

/** A signal. It is not in the log, so it has no id and is never sent again. */
export type StreamedSignal<S extends SignalName = SignalName> = Named<Signal, S> &
  Readonly<Pick<Logged, 'timestamp'>> & { readonly event_id?: undefined };

type Unknown = Readonly<Omit<Logged, 'event' | 'event_id'>> & { readonly event: OtherName };

/** An event that this version of the SDK has no type for. A newer server may send one. */
export type UnknownStreamedEvent = Unknown & Readonly<Pick<Logged, 'event_id'>>;

/** A signal that this version of the SDK has no type for. */
export type UnknownStreamedSignal = Unknown & { readonly event_id?: undefined };

/** The items of a stream with these names, and with all signals if `S` is true. */
export type Streamed<N extends StreamedName | OtherName = StreamedName | OtherName, S extends boolean = boolean> =
  | StreamedEvent<Extract<N, EventName>>
  | StreamedSignal<Extract<N, SignalName> | (S extends true ? SignalName : never)>
  | (OtherName extends N ? UnknownStreamedEvent | (S extends true ? UnknownStreamedSignal : never) : never);

/** The content of a block: the cursor that the stream has reached, an item, or both. */
export interface StreamUpdate {
  readonly cursor: number | undefined;
  readonly item: Streamed | undefined;
}

/** Returns the content of a block. Throws `TransportError` if it is damaged. */
export function readBlock({ id, data }: Block): StreamUpdate {
  const cursor = id === undefined ? undefined : readCursor(id);
  if (data === undefined) return { cursor, item: undefined };
  return { cursor, item: { ...(cursor !== undefined && { event_id: cursor }), ...readBody(data) } as Streamed };
}

function readCursor(id: string): number {
  if (/^\d{1,16}$/.test(id) && Number.isSafeInteger(Number(id))) return Number(id);
  throw new TransportError(`The stream has an invalid event id: ${JSON.stringify(id.slice(0, 100))}.`);
}

function readBody(text: string): object {
  const body = parseObject(text);
  const { event, timestamp, data } = body ?? {};
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (body && typeof event === 'string' && typeof timestamp === 'string' && isObject) return body;
  throw new TransportError('The stream has an event that is not {"event", "timestamp", "data"}.');
}
