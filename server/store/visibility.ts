/** The time that a user spends in a chat, from the event of joining to the event of leaving. */
export interface Stay {
  readonly joined_event: number;
  readonly left_event: number | null;
}

/**
 * Who sees an event: whoever was in its chat when it happened, the events of joining and leaving included. This is the one
 * rule for the pull, for webhooks and for replays; it stands here in all of its forms.
 */
export const sees = ({ joined_event, left_event }: Stay, eventId: number): boolean =>
  eventId >= joined_event && (left_event === null || eventId <= left_event);

/** The same in SQL, about a row `stay` with the columns of a stay. */
export const seenDuring = (stay: string, eventId: string): string =>
  `${eventId} >= ${stay}.joined_event AND (${stay}.left_event IS NULL OR ${eventId} <= ${stay}.left_event)`;

/** The same as bounds, among the events after one and up to another: the columns `after` and `up_to`. */
export const seenWithin = (after: string, upTo: string): string =>
  `CASE WHEN joined_event > ${after} THEN joined_event - 1 ELSE ${after} END AS after,
   CASE WHEN left_event < ${upTo} THEN left_event ELSE ${upTo} END AS up_to`;
