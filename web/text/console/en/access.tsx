/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { en as places } from '../../shared/places/en.ts';
import { number, plural } from './ages.ts';

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

/** The pages of access tokens, bots and apps. */
export const accessWords = {
  access: {
    title: places.tokens,
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
};
