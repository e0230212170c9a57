import type { Delivery } from '@parley-chat/sdk';
import type { Replay } from '@parley-chat/sdk/operations.ts';
import { number, plural } from './ages.ts';

const states: Readonly<Record<Delivery['state'], string>> = {
  pending: 'Pending',
  retrying: 'Retrying',
  delivered: 'Delivered',
  failed: 'Failed',
  skipped: 'Skipped',
};

const skipReasons: Readonly<Record<NonNullable<Delivery['reason']>, string>> = {
  by_owner: 'You skipped it.',
  expired: 'Its event expired before it could be delivered.',
  webhook_deleted: 'The webhook was deleted.',
  access_revoked: 'The access token of the webhook was revoked or had expired.',
  user_disabled: 'The user of the webhook was disabled.',
};

const replayStatus: Readonly<Record<Replay['status'], string>> = {
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  cancelled: 'Cancelled',
};

/** The deliveries of a webhook, one of them in full, and replays. */
export const deliveryWords = {
  deliveries: {
    title: 'Deliveries',
    failed: 'The deliveries could not be loaded.',
    moreFailed: 'There are more deliveries, but they could not be loaded.',
    states,
    columns: {
      state: 'State',
      event: 'Event',
      chat: 'Chat',
      status: 'Response',
      duration: 'Duration',
      attempts: 'Attempts',
      time: 'Last attempt',
    },
    attempts: (count: number) => plural(count, { one: '# attempt', other: '# attempts' }),
    next: (at: string) => `again at ${at}`,
    noChat: 'No chat',
    chatNumber: (id: number) => `Chat ${id}`,
    replayed: 'replay',
    selectAll: 'Select all shown',
    selectOne: (id: number) => `Select delivery ${id}`,
    selected: (count: number) => plural(count, { one: '# selected', other: '# selected' }),
    redeliver: 'Redeliver',
    skip: 'Skip',
    redelivering: ({ done, all }: { done: number; all: number }) => `Redelivering ${number(done)} of ${number(all)}…`,
    redelivered: ({ delivered, due, all }: { delivered: number; due: number; all: number }) =>
      all === 1
        ? delivered === 1
          ? 'It was delivered.'
          : 'It was not delivered. The delivery says why.'
        : `${number(delivered)} of ${number(all)} were delivered${due > 0 ? `, ${number(due)} are due now` : ''}.`,
    due: (count: number) =>
      plural(count, {
        one: 'It is due now, and goes out in its turn.',
        other: '# are due now, and go out in their turn.',
      }),
    stop: 'Stop',
    redeliverFailed: 'It was not redelivered.',
    skipped: (count: number) => plural(count, { one: 'It is skipped.', other: '# are skipped.' }),
    skipFailed: 'It was not skipped.',
    skipTitle: 'Skip deliveries',
    skipQuestion: (count: number) =>
      plural(count, {
        one: 'The endpoint does not get # delivery, and its chat goes on with the next one. You can redeliver it later.',
        other:
          'The endpoint does not get # deliveries, and their chats go on with the next ones. You can redeliver them later.',
      }),
    filters: {
      label: 'Filters',
      state: 'State',
      event: 'Event',
      chat: 'Chat',
      since: 'Since',
      until: 'Until',
      any: 'Any',
      clear: 'Clear filters',
    },
    empty: 'Nothing was sent yet',
    emptyHint:
      'Deliveries appear here as soon as something happens in a chat. Send a test to see if the endpoint works.',
    noMatch: 'No delivery matches these filters',
    noMatchHint: 'Deliveries are kept for as long as their events, 30 days by default.',
  },

  delivery: {
    title: (id: number) => `Delivery ${id}`,
    close: 'Close the delivery',
    failed: 'The delivery could not be loaded.',
    missing: 'This delivery does not exist, or has expired.',
    facts: {
      event: 'Event',
      eventId: 'Event id',
      chat: 'Chat',
      state: 'State',
      next: 'Next attempt',
      replay: 'Replay',
    },
    skipReason: (reason: Delivery['reason']) => (reason === null ? '' : skipReasons[reason]),
    pending: 'It waits for its turn: deliveries of a chat go out one at a time, in order.',
    timeline: 'Attempts',
    noAttempts: 'It was not tried yet.',
    attempt: (count: number) => `Attempt ${number(count)}`,
    attemptResult: ({ status, ms }: { status: string; ms: string }) => `${status}, ${ms}`,
    headers: 'Headers',
    unsigned:
      'The two signatures cannot be shown any more: the event has expired, the webhook was deleted, or its secret was rotated since.',
    body: 'Body, as it was signed',
    bodyExpired: 'The event has expired, and its body with it.',
    notSent: 'It was not sent yet.',
    responseOf: (count: number) => `Response to attempt ${number(count)}`,
    noResponse: 'There was no response.',
    emptyResponse: 'The response had no body.',
    notKept: 'Parley keeps no responses of deliveries that succeed at the first attempt.',
    copyBody: 'Copy the body',
    copyHeaders: 'Copy the headers',
    checkSignature: 'Check the signature',
  },

  replays: {
    title: 'Replay events',
    about:
      'Parley sends past events once more, in order, beside new ones. Each has the header X-Webhook-Replay, and the same id as before.',
    since: 'Events since',
    which: 'Which events',
    every: 'All',
    failed: 'Failed',
    skipped: 'Skipped',
    undelivered: 'Failed and skipped',
    counting: 'Counting the events…',
    preview: ({ count, isExact }: { count: number; isExact: boolean }) =>
      isExact
        ? plural(count, { one: 'This sends # event.', other: 'This sends # events.' })
        : `This sends more than ${number(count)} events.`,
    nothing: 'There are no such events. Choose an earlier time, or other events.',
    uncounted: 'The events could not be counted.',
    act: 'Start the replay',
    started: 'The replay has started.',
    cancel: 'Cancel the replay',
    cancelled: 'The replay is cancelled. What it had not sent is skipped.',
    cancelFailed: 'The replay was not cancelled.',
    list: 'Replays',
    status: replayStatus,
    progress: ({
      delivered,
      failed,
      skipped,
      open,
    }: Readonly<Record<'delivered' | 'failed' | 'skipped' | 'open', number>>) =>
      `${number(delivered)} delivered, ${number(failed)} failed, ${skipped > 0 ? `${number(skipped)} skipped, ` : ''}${number(open)} waiting`,
    of: (at: string) => `Replay of ${at}`,
    bar: 'Events that are done',
    noTime: 'Choose a time.',
    expired: 'Events of that time are deleted already. Choose a later time.',
  },
};
