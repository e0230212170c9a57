/** @jsxImportSource preact */
import type { Webhook } from '@parley-chat/sdk';
import type { ComponentChildren } from 'preact';
import { number, plural } from './ages.ts';

const disabledReasons: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  gone: 'The endpoint responded with 410, which means that it wants no more deliveries.',
  unreachable: 'The endpoint was down for 5 days.',
  access_revoked: 'The access token that registered it was revoked or has expired, or your password was changed.',
  user_disabled: 'Its user was disabled.',
};

interface Failing {
  readonly since: string | null;
  /** Whether it is not tried with every event. */
  readonly isDown: boolean;
  /** Whether the webhook is younger than a day. */
  readonly isNew: boolean;
  /** When the next attempt is. */
  readonly next: string | null;
}

/** The list of webhooks, the page of one, and its dialogs. */
export const webhookWords = {
  webhooks: {
    title: 'Webhooks',
    about: 'A webhook sends the events of your chats to a URL of yours, signed and in order.',
    create: 'New webhook',
    list: 'Your webhooks',
    empty: 'No webhooks yet',
    emptyHint:
      'Your own program can react to messages a few milliseconds after they are written. Give Parley a URL, and it sends the events there.',
    failed: 'The webhooks could not be loaded.',
    everyEvent: 'all events',
    someEvents: (count: number) => plural(count, { one: '# event', other: '# events' }),
    everyChat: 'all your chats',
    wholeService: 'all chats of the service',
    otherChat: 'a chat that you are not in',
    /** The events and chats of a webhook, in one line. */
    receives: ({ events, chat }: { events: string; chat: ComponentChildren }): ComponentChildren => (
      <>
        {events} of {chat}
      </>
    ),
  },

  health: {
    kinds: {
      delivering: 'Delivering',
      retrying: 'Retrying',
      behind: 'Behind',
      failing: 'Failing',
      paused: 'Paused',
      disabled: 'Disabled',
    },
    delivering: 'Everything has been delivered.',
    failingSince: ({ since, isDown, isNew, next }: Failing) =>
      `The endpoint ${since === null ? 'fails' : `has been failing since ${since}`}${isDown ? '. All events wait.' : `, and has accepted nothing ${isNew ? 'since the webhook was created' : 'in 24 hours'}.`} ${next === null ? 'Parley tries again soon.' : `Parley tries again at ${next}.`}`,
    retrying: (since: string | null) =>
      `The endpoint ${since === null ? 'does not accept some events' : `has not accepted some events since ${since}`}. Their chats wait for the next attempt, and other chats do not.`,
    behind: 'Events are waiting to be sent.',
    paused: 'Events wait until you resume it. Then they are delivered in order.',
    disabled: (reason: Webhook['disabled_reason']) => (reason === null ? '' : disabledReasons[reason]),
    disabledNext: (reason: Webhook['disabled_reason']) =>
      reason === 'gone' || reason === 'unreachable'
        ? 'Repair the endpoint and resume the webhook. The events that it missed are then delivered in order.'
        : 'Resume the webhook to make it yours again. It then receives events from that moment on.',
    seeDelivery: 'See the delivery',
    useTarget: 'Use this URL',
    /** A count of the API, which stops at some number. */
    count: (count: number, isMore: boolean) => `${number(count)}${isMore ? '+' : ''}`,
    counts: 'Deliveries in numbers',
    recentDelivered: 'Delivered in 24 h',
    recentFailed: 'Given up in 24 h',
    retried: 'Retrying',
    backlog: 'Waiting',
    lag: 'Oldest waiting',
    expired: (count: number) =>
      plural(count, {
        one: '# event expired before it was delivered.',
        other: '# events expired before they were delivered.',
      }),
    twoSecrets: 'The secret was rotated. Give your endpoint the new one before the old one ends.',
    /** What each of two secrets signs. */
    secrets: {
      label: 'Secrets',
      new: 'New secret',
      newSigns: 'webhook-signature and X-Webhook-Signature',
      old: 'Old secret',
      oldSigns: (until: string) => `webhook-signature only, until ${until}`,
    },
    rotated: (until: string) =>
      `The secret was rotated, and X-Webhook-Signature already uses the new one alone. Give your endpoint the new secret, or let it verify webhook-signature, which has both signatures until ${until}.`,
    unknownEvents: (names: string) => `Parley has no event of this name, and never sends it: ${names}.`,
  },

  webhook: {
    all: 'All webhooks',
    missing: 'There is no such webhook',
    missingHint: 'It was deleted, or it belongs to somebody else or to an app.',
    failed: 'The webhook could not be loaded.',
    actions: 'Actions',
    test: 'Test',
    edit: 'Edit',
    pause: 'Pause',
    resume: 'Resume',
    rotate: 'Rotate secret',
    replay: 'Replay',
    delete: 'Delete',
    paused: 'The webhook is paused. Its events wait.',
    resumed: 'The webhook is active again.',
    changeFailed: 'The webhook was not changed.',
    created: (at: string) => `Created ${at}`,
  },

  form: {
    url: 'URL',
    urlExample: 'https://example.com/hook',
    urlForm: 'A URL that begins with http:// or https://.',
    urlHint: 'Your endpoint: an http or https URL that accepts POST requests.',
    chat: 'Chats',
    allChats: 'All my chats',
    service: 'All chats of the service',
    serviceHint: 'You are an administrator: it receives the events of everybody’s groups and channels.',
    includeDirect: 'Direct chats too',
    includeDirectHint: 'What two people write to each other in private. Tell them.',
    secret: 'Secret',
    secretHint: 'It signs the deliveries. Parley made one for you; you can type your own. It is never shown again.',
    makeSecret: 'Make another',
    events: 'Events',
    allEvents: 'All events',
    allEventsHint: 'Events of later versions too.',
    chosen: ({ chosen, all }: { chosen: number; all: number }) => `${number(chosen)} of ${number(all)}`,
    expand: (noun: string) => `Choose events of ${noun}`,
    example: 'Example',
    exampleOf: (name: string) => `Example of ${name}`,
    unknown: 'Other names',
    noEvents: 'Choose at least one event.',
    labels: { url: 'URL', secret: 'Secret', events: 'Events', chat_id: 'Chat' },
  },

  create: {
    title: 'Create a webhook',
    password: 'For a webhook of the whole service you must have entered your password in the last 10 minutes.',
    enterPassword: 'Enter it now',
    passwordHint: 'Then create it here again.',
    act: 'Create',
    anyway: 'Create anyway',
    anywayHint:
      'You can create the webhook as it is. Parley then tries again until the endpoint accepts its deliveries.',
    signature:
      'Give it the secret above and test again. Or create the webhook, and give it the secret afterwards. If a login or a firewall is in front of it, let Parley through.',
    done: 'The webhook is created',
    doneHint: 'Give the secret to your endpoint now. Parley does not show it again.',
    thenTest: 'Then send a test: you see at once what the endpoint responds.',
    open: 'See its deliveries',
    warnings: 'Is this right?',
  },

  secret: {
    label: 'The secret',
    copy: 'Copy the secret',
    snippet: 'Verify deliveries',
    copySnippet: 'Copy the code',
    saved: 'I have saved it',
    close: 'Done',
  },

  urlTest: { testing: 'Sending a test to the URL…' },

  edit: {
    title: 'Edit the webhook',
    about: 'A new URL receives the events that wait, too.',
    anyway: 'Save anyway',
    anywayHint: 'You can save the URL as it is. Parley then tries again until the endpoint accepts its deliveries.',
  },

  rotate: {
    title: 'Rotate the secret',
    about:
      'Parley signs with the new secret at once. For 24 hours it also signs with the old one, so that you have time to change your endpoint. X-Webhook-Signature has room for one signature and uses the new secret at once.',
    twice: 'The secret before the current one stops to count now, if there is one.',
    act: 'Rotate',
    done: (until: string) =>
      `webhook-signature has the signatures of both secrets until ${until}. X-Webhook-Signature has only that of the new one. Give your endpoint the new secret.`,
  },

  test: {
    title: 'Test the webhook',
    event: 'Event',
    plain: 'test: only a test',
    /** As the server sends it. */
    message: 'A test of this webhook. Nothing has happened.',
    body: 'Body',
    bodyHint: 'An example. The endpoint knows a test by its id, which starts with test-.',
    send: 'Send a test',
    sending: 'Sending a test event…',
    again: 'Test again',
    delivered: ({ status, ms }: { status: number; ms: string }) =>
      `The endpoint responded with ${number(status)} after ${ms}. It works.`,
    response: 'Response',
    noResponse: 'The response was empty.',
    failed: 'The test was not sent.',
  },

  remove: {
    title: 'Delete the webhook',
    question: (url: ComponentChildren): ComponentChildren => <>The endpoint {url} receives nothing more.</>,
    undelivered: 'Events that were not delivered yet are skipped.',
    history: 'Its deliveries stay readable over the API until they expire. This cannot be undone.',
    act: 'Delete the webhook',
    done: 'The webhook is deleted.',
  },
};
