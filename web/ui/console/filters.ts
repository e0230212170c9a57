import type { Delivery } from '@parley-chat/sdk';
import { consoleText } from '../../text/console/text.ts';

/** What the URL of a webhook's page says about its deliveries. Times are in ISO 8601, so that a link means the same everywhere. */
export interface Filters {
  readonly state: Delivery['state'] | undefined;
  readonly event: string | undefined;
  readonly chatId: number | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** The delivery that is open. */
  readonly deliveryId: number | undefined;
}

export const noFilters: Filters = {
  state: undefined,
  event: undefined,
  chatId: undefined,
  since: undefined,
  until: undefined,
  deliveryId: undefined,
};

const states: Readonly<Record<string, unknown>> = consoleText.deliveries.states;

/** Returns the filters of a query. Values that cannot be are left out. */
export function readFilters(query: string): Filters {
  const values = new URLSearchParams(query);
  const id = (name: string) => Number(/^\d{1,15}$/.exec(values.get(name) ?? '')?.[0]) || undefined;
  const time = (name: string) => isoOf(values.get(name) ?? '');
  const state = values.get('state') ?? '';
  const event = /^[\w.:-]{1,64}$/.exec(values.get('event') ?? '')?.[0];
  return {
    state: Object.hasOwn(states, state) ? (state as Delivery['state']) : undefined,
    event,
    chatId: id('chat'),
    since: time('since'),
    until: time('until'),
    deliveryId: id('delivery'),
  };
}

/** Returns the path of a webhook's page with filters. */
export function webhookPath(webhookId: number, filters: Partial<Filters> = noFilters): string {
  const { state, event, chatId, since, until, deliveryId } = { ...noFilters, ...filters };
  const values = Object.entries({ state, event, chat: chatId, since, until, delivery: deliveryId });
  const query = new URLSearchParams(
    values.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
  );
  return `/console/webhooks/${webhookId}${query.size === 0 ? '' : `?${query}`}`;
}

/** Returns the path of the signature debugger with a delivery. */
export const signaturePath = (deliveryId: number): string => `/console/signatures?delivery=${deliveryId}`;

export const isFiltered = ({ state, event, chatId, since, until }: Filters): boolean =>
  [state, event, chatId, since, until].some((value) => value !== undefined);

/** Returns a time in ISO 8601, or undefined if it is none. Fields of forms have the time where the reader is. */
export function isoOf(time: string): string | undefined {
  const at = new Date(time);
  return time === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Returns a time as a field of a form has it, where the reader is. */
export function localOf(iso: string | undefined): string {
  if (iso === undefined) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A part of the list of deliveries, from the newest on. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** The cursor of the next page, if there is one. */
  readonly next: number | null;
}

/** The server sorts by event, and replays of an event before the first delivery. */
const isOlder = (a: Delivery, b: Delivery): boolean =>
  a.event_id === b.event_id ? (a.replay_id ?? 0) < (b.replay_id ?? 0) : a.event_id < b.event_id;

/** Returns the rows on the page with the newest ones as they are now. Rows that were loaded by "more" stay below. */
export function refreshed(shown: DeliveryPage | undefined, fresh: DeliveryPage): DeliveryPage {
  const last = fresh.deliveries.at(-1);
  if (!shown || fresh.next === null || !last) return fresh;
  const older = shown.deliveries.filter((row) => isOlder(row, last));
  return older.length === 0 ? fresh : { deliveries: [...fresh.deliveries, ...older], next: shown.next };
}
