/** @jsxImportSource preact */
import type { Delivery, EventName, Webhook } from '@parley-chat/sdk';
import type { Replay } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { countsIn } from '../counts.ts';

const { number, decimal, plural } = countsIn('en');

/** Units of an age, the largest that fits. */
const units = [
  [86_400, (count: number) => plural(count, { one: '# day', other: '# days' })],
  [3_600, (count: number) => `${number(count)} h`],
  [60, (count: number) => `${number(count)} min`],
  [1, (count: number) => `${number(count)} s`],
] as const;

function age(seconds: number): string {
  const [unit, say] = units.find(([unit]) => seconds >= unit) ?? units[3];
  return say(Math.max(0, Math.floor(seconds / unit)));
}

const events: Readonly<Record<EventName, string>> = {
  new_message: 'A new message appears in a chat.',
  message_edited: 'A message is edited.',
  message_deleted: 'A message is deleted.',
  message_pinned: 'A message is pinned in its chat.',
  message_unpinned: 'A message is unpinned.',
  reaction_added: 'Somebody reacts to a message.',
  reaction_removed: 'Somebody takes a reaction back.',
  user_joined: 'A user joins a group or channel, or is added to it.',
  user_left: 'A user leaves a group or channel, or is removed from it.',
  role_changed: 'The role of a participant changes.',
  user_updated: 'The profile of a participant changes.',
  group_created: 'A new group is created.',
  channel_created: 'A new channel is created.',
  direct_created: 'A new direct chat is created.',
  chat_updated: 'The name, description or visibility of a chat changes.',
  preferences_changed: 'You change your own preferences for a chat.',
  webhook_disabled: 'One of your other webhooks is disabled.',
};

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

const disabledReasons: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  gone: 'The endpoint responded with 410, which means that it wants no more deliveries.',
  unreachable: 'The endpoint was down for 5 days.',
  access_revoked: 'The access token that registered it was revoked or has expired, or your password was changed.',
  user_disabled: 'Its user was disabled.',
};

const replayStatus: Readonly<Record<Replay['status'], string>> = {
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  cancelled: 'Cancelled',
};

/** The words for a failed attempt: its name in a narrow column, what happened, and what to do next. */
interface FailureWords {
  readonly short: string;
  readonly what: (failed: { readonly status: number; readonly error: string }) => string;
  readonly next: string;
}

const failures = {
  signature: {
    short: 'Signature refused',
    what: ({ status }) =>
      `The endpoint refused the delivery with ${status}. It probably does not accept the signature.`,
    next: 'Its secret may differ from the one of this webhook, or it checks a body that was changed on the way: check the signature of a delivery. If you no longer have the secret, rotate it. If a login or a firewall is in front of it, let Parley through.',
  },
  missing: {
    short: 'Not found',
    what: ({ status }) => `The endpoint responded with ${status}: nothing is at this path.`,
    next: 'Compare the path of the URL with the route of your endpoint, and change the one that is wrong.',
  },
  method: {
    short: 'POST refused',
    what: ({ status }) => `The endpoint responded with ${status}: it does not accept POST requests.`,
    next: 'Let the route accept POST, or change the URL to one that does.',
  },
  gone: {
    short: 'Gone',
    what: ({ status }) => `The endpoint responded with ${status}: it wants no more deliveries.`,
    next: 'If this is a mistake, repair the endpoint and resume the webhook. Otherwise delete the webhook.',
  },
  tooLarge: {
    short: 'Too large',
    what: ({ status }) => `The endpoint responded with ${status}: the body is larger than it accepts.`,
    next: 'Let the endpoint, and any proxy in front of it, accept bodies of 1 MiB. Then redeliver.',
  },
  tooMany: {
    short: 'Too many',
    what: ({ status }) => `The endpoint responded with ${status}: it gets more requests than it accepts.`,
    next: 'Parley waits as long as the endpoint asks for. If this happens often, raise the limit of the endpoint, or subscribe to fewer events.',
  },
  refused: {
    short: 'Refused',
    what: ({ status }) => `The endpoint refused the delivery with ${status}.`,
    next: 'Read the response of the delivery and the log of the endpoint. An endpoint should respond with 200 to events that it does not need.',
  },
  redirect: {
    short: 'Redirect',
    what: ({ status }) => `The endpoint responded with ${status}, a redirect. Parley does not follow redirects.`,
    next: 'Change the URL to the one that the redirect leads to: the response of the delivery has it. Often only https:// or the slash at the end is missing.',
  },
  away: {
    short: 'Unavailable',
    what: ({ status }) =>
      `A server responded with ${status}: it is not ready, or the program behind it does not respond.`,
    next: 'Check that your program runs, and that the proxy in front of it leads to the right port.',
  },
  broken: {
    short: 'Server error',
    what: ({ status }) => `The endpoint failed with ${status}, an error in its own code.`,
    next: 'Find the error in the log of the endpoint at the time of the attempt. When it is repaired, redeliver.',
  },
  unexpected: {
    short: 'Unexpected status',
    what: ({ status }) => `The endpoint responded with ${status}. Only a status from 200 to 299 means that it arrived.`,
    next: 'Let the endpoint respond with 200.',
  },
  timeout: {
    short: 'Time-out',
    what: () => 'The endpoint did not respond in time: Parley waits for 15 seconds.',
    next: 'Let the endpoint respond at once, and do the work afterwards. If it never responds, check its firewall.',
  },
  name: {
    short: 'Unknown host',
    what: ({ error }) => `The host of the URL was not found: ${error}.`,
    next: 'Look for a typing mistake in the URL. If the name is new, wait until DNS knows it; Parley tries again by itself.',
  },
  nameServer: {
    short: 'DNS failed',
    what: ({ error }) => `The host of the URL could not be looked up: ${error}.`,
    next: 'The name servers did not respond. Parley tries again by itself. If it lasts, check the DNS of the host and of this server.',
  },
  connection: {
    short: 'Connection refused',
    what: () => 'Nothing listens at the host and port of the URL: the connection was refused.',
    next: 'Start the endpoint, or correct the port of the URL. Parley tries again by itself.',
  },
  route: {
    short: 'No route',
    what: () => 'The network of the endpoint cannot be reached from this server.',
    next: 'Check the address of the host, and the network between it and this server.',
  },
  reset: {
    short: 'Connection lost',
    what: () => 'The endpoint closed the connection before it responded.',
    next: 'It may have crashed, or a proxy in front of it closed the connection. Look at the logs of both.',
  },
  tls: {
    short: 'TLS failed',
    what: ({ error }) => `There is no secure connection to the endpoint: ${error}.`,
    next: 'Renew or correct its certificate, with the whole chain, for the host of the URL. Parley accepts no others.',
  },
  blocked: {
    short: 'Address blocked',
    what: ({ error }) => `Parley may not send to this address: ${error}.`,
    next: 'Use a public URL. If the endpoint is in your own network, an administrator can open it with PARLEY_WEBHOOK_NETWORKS.',
  },
  notHttp: {
    short: 'Not HTTP',
    what: ({ error }) => `The endpoint did not respond as a web server does: ${error}.`,
    next: 'Check the port of the URL, and whether it must begin with https:// instead of http://.',
  },
  cancelled: {
    short: 'Interrupted',
    what: () => 'Parley was stopped during this attempt.',
    next: 'Nothing to do: it tries again by itself.',
  },
  other: {
    short: 'Failed',
    what: ({ error }) => `The attempt failed: ${error}.`,
    next: 'Try the URL from the machine that Parley runs on, with curl.',
  },
} as const satisfies Readonly<Record<string, FailureWords>>;

const scopes = {
  'messages:read': 'Read the messages and events of your chats',
  'messages:write': 'Send, edit and delete messages, react, and mark chats as read',
  'chats:read': 'See your chats, their participants, and other users',
  'chats:write': 'Create, change, join and leave chats, and change your profile',
  webhooks: 'Register webhooks and see their deliveries',
  files: 'Upload and download files',
  apps: 'Register, list and delete your apps',
  admin: 'Administer the service',
};

/** Words that follow "May". */
const inShort: Readonly<Record<keyof typeof scopes, string>> = {
  'messages:read': 'read messages',
  'messages:write': 'send and change messages',
  'chats:read': 'see chats and users',
  'chats:write': 'create and change chats',
  webhooks: 'manage webhooks',
  files: 'upload and download files',
  apps: 'register and delete apps',
  admin: 'administer the service',
};

const list = new Intl.ListFormat('en');

/** Texts of the console, by page. The rules are those of `../en.tsx`. */
export const en = {
  age,
  ago: (seconds: number) => `${age(seconds)} ago`,
  milliseconds: (ms: number) => (ms < 1_000 ? `${number(ms)} ms` : `${decimal(ms / 1_000)} s`),
  /** In a cell that has no value. */
  none: '–',

  navigation: {
    label: 'Console',
    chats: 'Back to chats',
    pages: {
      webhooks: 'Webhooks',
      events: 'Events',
      signatures: 'Signatures',
      tokens: 'Access tokens',
      bots: 'Bots',
      apps: 'Apps',
      overview: 'Overview',
      people: 'People',
      storage: 'Storage',
      chats: 'All chats',
      audit: 'Audit log',
      service: 'Service',
    },
    administration: 'Administration',
    docs: 'API reference',
  },
  lost: 'Reconnecting… What you see may be old.',

  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not copy it. Select the text, and copy it yourself.',

  events,
  nouns: {
    messages: 'Messages',
    reactions: 'Reactions',
    people: 'People',
    chats: 'Chats',
    you: 'Your account',
  },
  failures,

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
    failingSince: ({ since, isDown, next }: { since: string | null; isDown: boolean; next: string | null }) =>
      `The endpoint ${since === null ? 'fails' : `has been failing since ${since}`}${isDown ? '. All events wait.' : ', and has accepted nothing in 24 hours.'} ${next === null ? 'Parley tries again soon.' : `Parley tries again at ${next}.`}`,
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
    /** A count of the API, which stops at some number. */
    count: (count: number, isMore: boolean) => `${number(count)}${isMore ? '+' : ''}`,
    counts: 'Deliveries in numbers',
    recentDelivered: 'Delivered in 24 h',
    recentFailed: 'Failed in 24 h',
    retried: 'Retrying',
    backlog: 'Waiting',
    lag: 'Oldest waiting',
    expired: (count: number) =>
      plural(count, {
        one: '# event expired before it was delivered.',
        other: '# events expired before they were delivered.',
      }),
    twoSecrets: (until: string) =>
      `Deliveries are signed with the old secret too until ${until}. Give your endpoint the new one before.`,
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
  },

  edit: { title: 'Edit the webhook', about: 'A new URL receives the events that wait, too.' },

  rotate: {
    title: 'Rotate the secret',
    about:
      'Parley signs with the new secret at once. For 24 hours it also signs with the old one, so that you have time to change your endpoint. X-Webhook-Signature has room for one signature and uses the new secret at once.',
    twice: 'The secret before the current one stops to count now, if there is one.',
    act: 'Rotate',
    done: (until: string) => `Both secrets are valid until ${until}. Give your endpoint the new one before.`,
    close: 'Done',
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
    redeliverFailed: 'It was not redelivered.',
    skipped: (count: number) => plural(count, { one: 'It is skipped.', other: '# are skipped.' }),
    skipFailed: 'It was not skipped.',
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
    signatureNote:
      'The two signatures are left out: they need the secret, which Parley does not show. The signature debugger makes them from your secret.',
    body: 'Body, as it was signed',
    bodyExpired: 'The event has expired, and its body with it.',
    notSent: 'It has these headers when it is sent.',
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

  access: {
    title: 'Access tokens',
    about: 'For your own scripts and tools. Anyone with a token can act as you.',
    failed: 'The access tokens could not be loaded.',
    create: 'New token',
    empty: 'No access tokens yet',
    emptyHint: 'Create one to call the API from a script, from the command line or from another service.',
    scopes,
    may: (names: readonly (keyof typeof scopes)[]) => `May ${list.format(names.map((name) => inShort[name]))}.`,
    lastUsed: 'Last used',
    expires: 'Expires',
    created: 'Created',
    since: 'Since',
    never: 'never',
    usage: ({ all, today }: { all: number; today: number }) =>
      `${plural(all, { one: '# request', other: '# requests' })} in 30 days, ${number(today)} today`,
    revoke: 'Revoke',
    revokeOne: (name: string) => `Revoke ${name}`,
    revokeTitle: 'Revoke the token',
    revokeQuestion: (name: ComponentChildren): ComponentChildren => (
      <>
        Programs that use {name} lose access at once, and so do tokens that it created. Webhooks that it registered end,
        and what they have not delivered is skipped. This cannot be undone.
      </>
    ),
    revoked: 'The token is revoked.',
    authorized: 'Apps that you have authorized',
    endAccess: 'End its access',
    endAccessOf: (name: string) => `End the access of ${name}`,
    endAccessQuestion: (name: ComponentChildren): ComponentChildren => (
      <>{name} can no longer act for you, and its webhooks stop. To use it again, authorize it again.</>
    ),
    accessEnded: 'The app has no access any more.',
    form: {
      title: 'Create an access token',
      name: 'Name',
      nameExample: 'What it is for, such as: nightly report',
      scopes: 'What it may do',
      presets: { read: 'Read only', bot: 'Bot', all: 'Everything' },
      noScopes: 'Choose at least one thing that it may do.',
      expires: 'Expires',
      lifetimes: { days30: 'In 30 days', days90: 'In 90 days', days365: 'In a year', never: 'Never' },
      neverHint: 'A token that never expires works until you revoke it, also if it leaks and nobody notices.',
      needsPassword: 'A token that may administer the service needs your password from the last 10 minutes.',
      enterPassword: 'Enter the password, then create the token again',
      act: 'Create',
      done: 'The token is created',
      doneHint: 'Copy it now. Parley does not show it again.',
      token: 'Access token',
      labels: { name: 'Name', scopes: 'What it may do', expires_in: 'Expires' },
    },
    tryIt: 'Try it',
    close: 'Done',
  },

  bots: {
    title: 'Bots',
    about: 'A bot is an automated account with tokens of its own. You are responsible for it.',
    failed: 'The bots could not be loaded.',
    create: 'New bot',
    empty: 'No bots yet',
    emptyHint: 'Create one to post as somebody other than yourself. It has its own name and picture.',
    createTitle: 'Create a bot',
    act: 'Create',
    name: 'Name',
    nameHint: 'Letters a to z, digits, and . _ - between them. It cannot be changed later.',
    displayName: 'Display name',
    userId: 'User id',
    labels: { name: 'Name', display_name: 'Display name' },
    all: 'All bots',
    missing: 'There is no such bot',
    missingHint: 'It was disabled, or it belongs to somebody else.',
    noTokens: 'It has no access tokens yet. Create one, so that a program can act as it.',
    disable: 'Disable',
    disableTitle: 'Disable the bot',
    disableQuestion:
      'Its access tokens and webhooks end at once. Its messages stay. Only an administrator can enable it again.',
    disabled: 'The bot is disabled.',
  },

  apps: {
    title: 'Apps',
    about: 'An app acts for the people who authorize it (OAuth), within the access that they grant.',
    failed: 'The apps could not be loaded.',
    create: 'New app',
    empty: 'No apps yet',
    emptyHint: 'Register one to let people sign in to your software with their Parley account.',
    createTitle: 'Register an app',
    act: 'Register',
    name: 'Name',
    nameHint: 'People see it when they are asked to authorize the app.',
    redirects: 'Redirect URLs',
    redirectExample: 'https://example.com/callback',
    redirectsHint: 'Where people return after they decide. One on each line, exactly as the app sends it.',
    kind: 'Where it runs',
    onServer: 'On a server, where it can keep a secret. It also gets a bot.',
    onDevice: 'In a browser or on the device of its user',
    labels: { name: 'Name', redirects: 'Redirect URLs' },
    done: 'The app is registered',
    secretHint: 'Copy the secret now. Parley does not show it again.',
    clientSecret: 'Client secret',
    clientId: 'Client id',
    registered: 'Registered',
    unconfirmed: 'This app was registered with an access token.',
    unconfirmedHint:
      'If that was not you, delete the app and revoke the token. If it was you, check the redirect URLs and save. Until then, people who authorize it are warned.',
    all: 'All apps',
    missing: 'There is no such app',
    missingHint: 'It was deleted, or it belongs to somebody else.',
    connection: 'Connection',
    endpoints: {
      authorize: 'Authorization URL',
      token: 'Token URL',
      revoke: 'Revocation URL',
      device: 'Device authorization URL',
      metadata: 'Metadata URL',
    },
    copy: (what: string) => `Copy: ${what}`,
    itsBot: 'With its own credentials the app acts as its bot',
    edit: 'Name and redirect URLs',
    saved: 'The app is saved.',
    replace: 'Replace the secret',
    replaceTitle: 'Replace the secret',
    replaceQuestion: (hasBot: boolean) =>
      `The current secret stops working at once.${hasBot ? ' The access tokens and webhooks of its bot end too.' : ''}`,
    replaced: 'The app has a new secret.',
    newSecret: 'The new secret',
    delete: 'Delete',
    deleteTitle: 'Delete the app',
    deleteQuestion: (people: number) =>
      `${people === 0 ? 'Nobody has' : plural(people, { one: '# person has', other: '# people have' })} authorized it. It loses all access at once, for everybody. This cannot be undone.`,
    deleted: 'The app is deleted.',
  },

  signatures: {
    title: 'Check a signature',
    about:
      'Paste what your endpoint received, and its secret. Everything is computed in this browser: the secret is sent nowhere.',
    delivery: 'Delivery',
    deliveryHint: 'Its number. It fills in what is empty, and what you pasted is compared with what was sent.',
    fill: 'Fill in',
    noDelivery: 'You have no delivery with this number.',
    secret: 'Secret',
    show: 'Show the secret',
    headers: 'Headers',
    headersHint: 'One on each line, as in “webhook-id: 7”.',
    body: 'Body',
    bodyHint: 'The raw body, before anything has parsed it.',
    result: 'Result',
    checks: 'Checks',
    expected: 'With this secret and body, the signatures are:',
    differs: ({ line, column }: { line: number; column: number }) =>
      `The first difference is in line ${number(line)}, at character ${number(column)}:`,
    sent: 'Sent',
    pasted: 'Pasted',
    theEnd: 'end of the body',
    /** The parts that are checked. */
    parts: {
      headers: 'Headers are there',
      scheme: 'Scheme is known',
      signature: 'webhook-signature matches',
      plain: 'X-Webhook-Signature matches',
      time: 'Timestamp is in time',
      body: 'Body is as it was sent',
    },
    passed: 'yes',
    notPassed: 'no',
    unchecked: 'not checked',
    verdicts: {
      empty: { title: 'Nothing to check yet', next: 'Paste the headers, the body and the secret.' },
      noSecret: { title: 'The secret is missing', next: 'Type or paste the secret that your endpoint uses.' },
      noSignature: {
        title: 'There is no signature header',
        next: 'Paste webhook-id, webhook-timestamp and webhook-signature too. If your endpoint does not get them, a proxy in front of it drops them.',
      },
      someMissing: {
        title: 'Some of the signature headers are missing',
        next: 'webhook-id, webhook-timestamp and webhook-signature belong together. If your endpoint gets only some of them, a proxy in front of it drops the others.',
      },
      scheme: {
        title: 'The signature has another scheme',
        next: 'webhook-signature has entries such as “v1,” and 44 characters of base64; X-Webhook-Signature is “sha256=” and 64 characters of hex. This one comes from other software, or was changed on the way.',
      },
      malformedTime: {
        title: 'webhook-timestamp is not a number of seconds',
        next: 'It counts the seconds since 1970. Something on the way has changed it.',
      },
      otherDelivery: {
        title: 'The headers belong to another event',
        next: 'Their webhook-id is not the event id of this delivery. Paste headers and body of the same request.',
      },
      wrongSecret: {
        title: 'The secret is wrong',
        next: 'Parley signed this delivery with another secret. Give your endpoint the current one, or rotate the secret.',
      },
      secretSpaces: {
        title: 'The secret has spaces or a line break around it',
        next: 'Without them the signature matches. Remove them where your endpoint reads the secret, for example with trim.',
      },
      secretPrefix: {
        title: 'The secret must not begin with whsec_',
        next: 'Without it the signature matches. Use the exact bytes of the secret as the key.',
      },
      newlineAdded: {
        title: 'A line break was added to the body',
        next: 'Without the line break at its end the signature matches. Check the bytes of the request, before anything changes them.',
      },
      byteOrderMark: {
        title: 'The body begins with a byte order mark',
        next: 'Without it the signature matches. Read the body as bytes.',
      },
      serialized: {
        title: 'The body was parsed and written again',
        next: 'Written without spaces the signature matches. Verify the raw body first, and parse it afterwards.',
      },
      bodyChanged: {
        title: 'The body was changed',
        next: 'The secret is right: what was sent matches the signature, and what you pasted does not. Verify the raw bytes of the request.',
      },
      stampChanged: {
        title: 'webhook-id or webhook-timestamp was changed',
        next: 'X-Webhook-Signature, which covers the body alone, matches. The other signature also covers these two headers: join them with the body as they arrived.',
      },
      mismatch: {
        title: 'The signature does not match',
        next: 'The secret or the body is not the one that was signed. Type the number of the delivery above, and you see which.',
      },
      plainDiffers: {
        title: 'X-Webhook-Signature does not match, though webhook-signature does',
        next: 'Something on the way has changed this header. The other one covers more, and is enough.',
      },
      plainOnly: {
        title: 'X-Webhook-Signature matches, but has no timestamp',
        next: 'It covers the body alone, so anybody who has recorded the request can send it again. Verify webhook-signature.',
      },
      tooOld: {
        title: 'The signature matches, but the timestamp is too old',
        next: 'Endpoints accept five minutes. If you check an older request here, this is expected. Otherwise set the clock of the endpoint, or look for what delays requests.',
      },
      tooNew: {
        title: 'The signature matches, but the timestamp is in the future',
        next: 'Set the clock of the endpoint, or of this machine, right.',
      },
      ready: {
        title: 'With this secret, these would be the signatures',
        next: 'Compare them with what your endpoint received, or paste its headers: if they differ, the secret is another one.',
      },
      valid: {
        title: 'The signature is valid',
        next: 'If your endpoint refuses it, compare its code with the snippet.',
      },
    },
    signedAt: ({ at, seconds }: { at: string; seconds: number }) =>
      seconds < 0 ? `It was signed at ${at}, in ${age(-seconds)}.` : `It was signed at ${at}, ${age(seconds)} ago.`,
  },

  inspector: {
    title: 'Events',
    about: 'The log of your chats, as streams and webhooks tell it. New events appear by themselves.',
    list: 'Newest events',
    pause: 'Pause',
    resume: 'Resume',
    paused: 'Paused. New events appear when you resume.',
    failed: 'The events could not be loaded.',
    olderFailed: 'Older events could not be loaded.',
    empty: 'No events',
    emptyHint: 'Nothing has happened yet in the chats that you chose. Write a message, and it appears here.',
    emptyWords: 'None of the loaded events has these words. Look among older ones.',
    filters: { label: 'Filters', event: 'Event', words: 'Text in JSON' },
    eventTitle: (id: number) => `Event ${id}`,
    close: 'Close the event',
    missing: 'There is no such event. It has expired, or you may not see it.',
    facts: { event: 'Event', chat: 'Chat', time: 'Time' },
    json: 'JSON',
    copyJson: 'Copy as JSON',
    fetch: 'Fetch this event',
    send: 'Send to my webhook',
  },

  sendEvent: {
    title: 'Send the event to a webhook',
    about:
      'Your endpoint gets the exact body of this event now, signed as always. It is a test: nothing is retried or logged.',
    webhook: 'Webhook',
    act: 'Send',
    none: 'You have no webhook yet.',
    refusals: { not_found: 'This webhook is for another chat, or the event has expired.' },
    create: 'Create one',
  },
};
