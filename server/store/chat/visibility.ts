/** A user's membership of a chat, from the event of joining to the event of leaving. */
export interface MembershipPeriod {
  readonly joined_event: number;
  readonly left_event: number | null;
}

/**
 * Returns true if an event of the chat falls into the period, the events of joining and leaving included. This
 * one rule serves `events.list`, streams, webhooks and replays. This file has all its forms.
 */
export const sees = ({ joined_event, left_event }: MembershipPeriod, eventId: number): boolean =>
  eventId >= joined_event && (left_event === null || eventId <= left_event);

/** The same in SQL, for a row `period` with the columns of a period. */
export const seenDuring = (period: string, eventId: string): string =>
  `${eventId} >= ${period}.joined_event AND (${period}.left_event IS NULL OR ${eventId} <= ${period}.left_event)`;

/** The same as bounds for a range of events: the columns `after` and `up_to`. */
export const seenWithin = (after: string, upTo: string): string =>
  `CASE WHEN joined_event > ${after} THEN joined_event - 1 ELSE ${after} END AS after,
   CASE WHEN left_event < ${upTo} THEN left_event ELSE ${upTo} END AS up_to`;
