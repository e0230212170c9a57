/** @jsxImportSource hono/jsx */
import { type Scope, scopes } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { countsIn } from '../../../web/text/shared/counts.ts';
import { en as shared } from '../../../web/text/shared/en.ts';
import { en as places } from '../../../web/text/shared/places/en.ts';
import { browserInWords } from '../../domain/user-agent.ts';

const language = 'en';
const { number, plural } = countsIn(language);

/** Between the names of an enumeration. */
const comma = ', ';

const inHours = (count: number) => plural(count, { one: '# hour', other: '# hours' });

const displayName = 'Display name';
const signIn = 'Sign in';
const signUp = 'Sign up';
const users = 'Users';
const createUser = 'Create a user';

/** Returns a link, or a button, with these words. */
type Link = (words: string) => Child;

/** All that people read and hear on the account pages, by page. The rules are those of `web/text/en.tsx`. */
export const en = {
  language,

  /** Texts of several pages. */
  common: {
    cancel: shared.cancel,
    comma,
    continue: 'Continue',
    frontPage: 'Go to the front page',
    goToChats: shared.goToChats,
    hasAccount: (link: Link): Child => <>Already have an account? {link(signIn)}</>,
    never: 'never',
    password: 'Password',
    signIn,
    signOut: shared.signOut,
    tryAgain: shared.tryAgain,
    /** How long to wait. */
    wait: (seconds: number) =>
      seconds < 90
        ? plural(seconds, { one: '# second', other: '# seconds' })
        : plural(Math.ceil(seconds / 60), { one: '# minute', other: '# minutes' }),
    fullName: ({ name, displayName }: { name: Child; displayName: Child }): Child => (
      <>
        {name} ({displayName})
      </>
    ),
    /** The subject of a button, after its label. */
    subject: (name: Child): Child => <> ({name})</>,
    /** The label of a button that asks once more. */
    asks: (label: Child): Child => <>{label}…</>,
    secretHint: 'Copy it now. It is shown only once.',
    browser: browserInWords,
    scopes: scopes as Readonly<Record<Scope, string>>,
  },

  layout: {
    /** The title of the browser's tab. */
    title: ({ page, service }: { page: string; service: string }) => `${page} · ${service}`,
    skip: 'Skip to the content',
    navigation: 'Main',
    /** Read before the name. */
    signedInAs: 'Signed in as ',
    ways: { chats: 'Chats', settings: shared.settings, administration: 'Admin' },
  },

  /** Entries of the navigation, and what they lead to. */
  entries: {
    profile: { label: places.profile, about: 'Your name, your picture and your status.' },
    appearance: { label: places.appearance, about: 'Light or dark, and how much fits on the screen.' },
    notifications: { label: places.notifications, about: 'What notifies you, where, and when not.' },
    service: { label: places.service, about: 'What it is called, and the chat that new people join.' },
    console: { label: places.console, about: 'Webhooks, events, access tokens, bots and apps.' },
    sessions: { label: places.sessions, about: 'The browsers in which you are signed in. Sign out any of them.' },
    password: { label: places.password, about: 'Change it and sign out all other browsers.' },
    overview: { label: places.overview, about: 'How the service does, its storage and its settings.' },
    users: { label: users, about: 'Who has an account, and who is an administrator.' },
    people: { label: places.people, about: 'Links to create an account.' },
    audit: { label: places.audit, about: 'Who did what to accounts and access, and when.' },
  },

  /** After a redirect. */
  notices: {
    'session-ended': 'That browser was signed out.',
    'other-sessions-ended': 'All other browsers were signed out. You stay signed in here.',
    'user-created': 'The user is created.',
    'user-disabled': 'The user is disabled, and all access ended at once.',
    'user-enabled': 'The user is enabled again.',
    'administrator-made': 'The user is an administrator now.',
    'administrator-unmade': 'The user is no longer an administrator.',
    'stepped-down': 'You are no longer an administrator.',
    'signed-out': 'You were signed out, and the form was not sent. Sign in to continue.',
    'password-reset':
      'Your password is set. All other sessions, your access tokens and the access of all apps ended. Apps that were registered with an access token, and that you had not confirmed, were deleted. Tokens of your bots keep working.',
    'not-sent': 'The form was not sent. Enter your password, and send it again.',
  },

  errors: {
    /** Titles by status. */
    titles: {
      403: 'This is not allowed',
      404: 'Page not found',
      409: 'This could not be done',
      429: 'Too many requests',
      500: 'Something went wrong',
      503: 'This does not work right now',
    } as Readonly<Record<number, string>>,
    otherTitle: 'This did not work',
    internal: 'This is our fault, not yours. Try again in a moment.',
    unavailable: 'The server is busy or restarting. Try again in a moment.',
    rateLimited: (wait: string) => `Too many requests came from your browser or your network. Try again in ${wait}.`,
    /** With the ID of the request. */
    tellAdministrator: (code: Child): Child => (
      <>If it still does not work in a few minutes, tell an administrator, with this code: {code}</>
    ),
    backToForm: 'Back to the form',
    backTo: (section: string) => `Back to ${section}`,
    foreignForm: 'This form came from another site. Open the page here and send it again.',
    runsAt: (origin: string) => `Parley runs at ${origin}. Open it there.`,
    goTo: (origin: string) => `Go to ${origin}`,
    noPage: 'There is no page at this URL. The link may be old or incomplete.',
    nothing: 'There is nothing at this URL.',
    noUser: 'There is no such user.',
    signInFirst: 'Sign in first.',
    disabled: 'Your account is disabled.',
    onlyAdministrators: 'Only administrators can see this page.',
    formType: 'Send the form as application/x-www-form-urlencoded or multipart/form-data.',
    sentTwice: {
      title: 'Already done',
      message:
        'This form was sent already. Its result is shown only once. If you did not copy it, end it and create another.',
    },
  },

  fields: {
    /** After a label. */
    optional: ' (optional)',
    /** What is wrong with a field. The words of the server continue a sentence, or begin with what was typed in quotation marks. */
    fault: (problem: string) => `${problem.startsWith('"') ? problem : `This ${problem}`}.`,
    /** Words that continue it. */
    faults: {
      notSame: 'is not the same password',
      notYours: 'is not your password',
      required: 'is required',
      unknownCode: 'code is unknown or has expired. Compare it with your device, or start again there',
    },
    /** Why a form was sent too often, then when to send it again. */
    throttled: ({ reason, wait }: { reason: string; wait: string }) => `${reason} Try again in ${wait}.`,
    throttles: {
      attempts: 'There were too many attempts.',
      codes: 'There were too many wrong codes.',
      accounts: 'Too many accounts were created from your network.',
    },
  },

  account: {
    name: 'Name',
    nameHint: 'For signing in, such as ada: letters and digits, without spaces. It cannot be changed.',
    displayName,
    displayNameHint: 'How others see you, such as Ada Lovelace.',
    /** For an account of somebody else. */
    displayNameDefault: 'Shown to people. The name by default.',
    passwordHint: 'At least 10 characters. A few words work well.',
    /** The label of the second field for a new password. */
    again: (label: string) => `${label}, again`,
  },

  adminUser: {
    back: 'All users',
    link: {
      title: 'Link for a new password',
      sendTo: (name: string) => `Send this only to ${name}`,
      about: (hours: number) =>
        `Anyone who opens it can choose the password. It works once, within ${inHours(hours)}. Earlier links no longer work. The new password ends all sessions, access tokens and app authorizations of the user.`,
    },
    facts: {
      title: 'About',
      displayName,
      userId: 'User ID',
      kind: 'Kind',
      person: 'Person',
      bot: 'Bot',
      owner: 'Owner',
      bots: 'Bots',
      administrator: 'Administrator',
      yes: 'Yes',
      no: 'No',
      password: 'Password',
      hasPassword: 'Set',
      noPassword: 'None. The user cannot sign in yet.',
      created: 'Created',
      disabled: 'Disabled',
      inAuditLog: 'This user in the audit log',
    },
    use: {
      title: 'Use',
      about: 'By the person and their bots together. The limits are settings of the server.',
      messages: 'Messages today (UTC)',
      fileBytes: 'Bytes of files',
      chats: 'Chats created',
      webhooks: 'Webhooks',
      bots: 'Bots',
      outOf: ({ used, limit }: { used: number; limit: number | undefined }) =>
        limit === undefined ? number(used) : `${number(used)} of ${number(limit)}`,
      ofAll: 'The use of all people',
    },
    password: {
      title: 'Password',
      forgotten: 'If the user forgot the password, create a link to choose another.',
      none: 'Create a link with which the user can choose a password and sign in.',
      create: 'Create a password link',
    },
    role: {
      title: 'Administrator',
      about: 'Administrators manage users and invitations, and read the audit log.',
      only: 'This is the only administrator. To step down, make another user an administrator first.',
      make: {
        label: 'Make an administrator',
        consequence: 'This user will see and change everything that you can, your own account included.',
      },
      stepDown: {
        label: 'Step down',
        consequence: 'You will no longer see these pages. Another administrator can make you one again.',
      },
      remove: {
        label: 'Remove as administrator',
        consequence: 'This user will no longer see these pages, and their tokens can no longer administer the service.',
      },
    },
    disable: {
      title: 'Disable',
      about: 'A disabled user cannot sign in or use the API. Their messages stay.',
      label: 'Disable the user',
      consequence: (bots: readonly string[]) =>
        `All sessions, access tokens, app authorizations and webhooks of the user end at once.${bots.length === 0 ? '' : ` So do these bots: ${bots.join(comma)}.`} Chats without another owner pass to another participant.`,
      own: 'This is your own account. Only another administrator can disable it.',
      ownRefused: 'You cannot disable your own account. Another administrator can.',
    },
    enable: {
      title: 'Enable',
      ownerDisabled: 'Its owner is disabled. Enable the owner first.',
      aboutBot: 'The owner can use it again, with new access tokens.',
      about: 'The user can sign in again. Access tokens, app authorizations and bots are not restored.',
      label: 'Enable the user',
    },
  },

  adminUsers: {
    title: users,
    create: createUser,
    use: 'Use by person',
    query: 'Name or display name contains',
    search: 'Search',
    none: 'No user matches.',
    noMore: 'There are no more users.',
    list: users,
    columns: {
      name: 'Name',
      displayName,
      kind: 'Kind',
      administrator: 'Administrator',
      state: 'State',
      created: 'Created',
    },
    person: 'Person',
    botOf: (owner: Child): Child => <>Bot of {owner}</>,
    yes: 'Yes',
    no: 'No',
    active: 'Active',
    disabled: 'Disabled',
    pages: 'Pages of the list',
    firstPage: 'First page',
    nextPage: 'Next page',
  },

  newUser: {
    title: createUser,
    create: 'Create the user',
    nameHint: 'Used to sign in. Letters, digits, and . _ - between them. It cannot be changed later.',
    passwordHint: 'At least 10 characters. Leave it empty to create a link with which the user chooses one.',
    role: 'Role',
    administrator: 'Administrator',
  },

  /** The page of the web client, in a browser without scripts. */
  client: {
    noScript: (link: Link): Child => <>Chats need JavaScript. {link('Your account')} works without.</>,
  },

  confirm: {
    title: 'Enter your password again',
    about: (name: Child): Child => (
      <>
        You are signed in as {name}. The next step gives lasting power over the service, so it needs your password from
        the last 10 minutes.
      </>
    ),
  },

  consent: {
    title: (app: string) => `Allow ${app} to use your account?`,
    app: 'The app',
    ofParley: 'This app is part of Parley.',
    own: 'You have registered this app.',
    registeredBy: ({ name, isByToken, isOwn }: { name: Child; isByToken: boolean; isOwn: boolean }): Child => (
      <>
        {name} has registered this app. No one has reviewed it.
        {isByToken && ' It was registered with an access token.'}
        {isByToken && isOwn && ' If that was not you, deny it, and delete it under Apps.'}
      </>
    ),
    clientId: (id: Child): Child => <>Client ID {id}</>,
    asks: 'It asks to',
    notAllowed: 'Administer the service. You are not an administrator, so you cannot allow that.',
    asAdministrator:
      'You are an administrator. The app will be able to do everything that you can. Allow this only to an app that you trust that far.',
    note: 'It will also see your name. In the console, under Access tokens, you can end its access at any time.',
    /** Who decides, then what follows. */
    signedIn: ({ name, outcome }: { name: Child; outcome: Child }): Child => (
      <>
        You are signed in as {name}. {outcome}
      </>
    ),
    outcomes: {
      site: (name: Child): Child => <>You will go to {name}.</>,
      program: (name: Child): Child => <>You will return to a program on this machine ({name}).</>,
      app: (name: Child): Child => <>You will return to an app on this device ({name}).</>,
    },
    allow: 'Allow',
    deny: 'Deny',
    goBack: 'Go back to the app',
    otherAccount: ({ name, button }: { name: Child; button: Link }): Child => (
      <>
        Not {name}? {button('Use another account')}
      </>
    ),
    faulty: {
      title: (app: string) => `${app} cannot ask for access`,
      about: 'The request of the app has an error. The app got no access.',
      fault: ({ error, description }: { error: Child; description: string }): Child => (
        <>
          {error}: {description}
        </>
      ),
      unknown: 'You have not authorized this app. Follow the link only if you trust it.',
      returnTo: (place: string) => `Return to the app at ${place}`,
    },
    refused: {
      title: 'This app cannot ask for access',
      about: 'The app got no access, and you were not redirected. Ask the developer of the app to fix this.',
    },
  },

  device: {
    title: 'Connect a device',
    about: 'A program on another device wants to use your account. It shows a code.',
    code: 'Code',
    codeHint: 'Eight letters, such as BCDF-GHJK.',
    sameCode: 'Check that your device shows the same code.',
    warning: (strong: (words: string) => Child): Child => (
      <>
        {strong('Did somebody send you the code, or a link to this page? Stop here.')} They would get access to your
        account. Continue only if you have just started this yourself.
      </>
    ),
    outcome: (code: Child): Child => <>If you allow it, the device with the code {code} gets access.</>,
    onlyYours: 'Allow this only if the device is yours and shows this code. If somebody sent you the code, deny it.',
    allowed: {
      title: (app: string) => `${app} can use your account now`,
      about: 'Go back to your device. It continues within a few seconds. You can close this window.',
      note: 'You can end its access at any time in the console, under Access tokens.',
    },
    denied: {
      title: (app: string) => `${app} got no access`,
      about: 'The device was told. You can close this window.',
    },
  },

  home: {
    hello: (name: string) => `Hello, ${name}`,
    about: (link: Link): Child => <>Change how Parley looks to you and you to others, or {link('go to your chats')}.</>,
    account: places.account,
    administration: places.administration,
    programs: (link: Link): Child => (
      <>
        For programs: the API is at <code>/api</code>. Read and try it in the {link(places.docs)}.
      </>
    ),
    notSetUp: {
      title: 'Parley is not set up yet',
      about: 'It is running, and needs its first administrator.',
      link: (): Child => (
        <>
          Open the set-up link that the server printed when it started. It is also in the file <code>setup-link</code>{' '}
          in its data folder.
        </>
      ),
    },
  },

  /** Links that do not work. */
  links: {
    /** After a form that was sent twice. */
    workedFirst: ({ isSignedIn }: { isSignedIn: boolean }) =>
      `If you pressed the button twice, it worked the first time.${isSignedIn ? '' : ' Sign in.'}`,
    password: {
      title: 'This link does not work',
      why: 'It was used, has expired, or was replaced by a newer one. Ask an administrator for another.',
    },
    setup: {
      title: 'This link does not work',
      why: 'It has been used or has expired, or Parley has an administrator already.',
      another: (program: string): Child => (
        <>
          If Parley has no administrator yet, restart the server. It prints another link. Or run this on its machine:{' '}
          <code>{program} user add &lt;name&gt; --admin</code>.
        </>
      ),
    },
    invitation: {
      title: 'This invitation does not work',
      why: 'It has been used or withdrawn, or has expired. Ask the person who sent it for another.',
    },
  },

  password: {
    title: 'Change your password',
    about: 'This signs you out of all other browsers.',
    current: 'Current password',
    new: 'New password',
    change: 'Change the password',
    changed: {
      title: 'Your password is changed',
      notice: 'You stay signed in here. Every other browser was signed out.',
      tokens: (link: Link): Child => (
        <>Apps and access tokens keep working. If one may have leaked, revoke it under {link(places.tokens)}.</>
      ),
      notifications: (link: Link): Child => (
        <>If notifications were on in this browser, turn them on again under {link(places.notifications)}.</>
      ),
    },
    /** With a link from an administrator. */
    reset: {
      title: 'Choose a new password',
      about: (name: Child): Child => (
        <>
          For the account {name}. This signs out all browsers, and ends your access tokens and the access of all apps.
          Access tokens of your bots keep working.
        </>
      ),
      set: 'Set the password',
    },
  },

  sessions: {
    title: places.sessions,
    about: (days: number) =>
      `The browsers in which you are signed in. Each stays signed in for ${plural(days, { one: '# day', other: '# days' })}.`,
    list: 'Signed in',
    none: 'There are no sessions.',
    onlyLast: (count: number) => `Only the last ${number(count)} are shown.`,
    this: 'This session',
    signedIn: 'Signed in',
    lastUsed: 'Last used',
    now: 'now',
    /** The subjects of the buttons. */
    own: 'this session',
    other: ({ browser, time }: { browser: string; time: string }) => `${browser}, since ${time}`,
    others: {
      title: 'Sign out everywhere else',
      about: (link: Link): Child => (
        <>If you do not recognize a browser, sign it out and then {link('change your password')}.</>
      ),
      signOut: 'Sign out all other browsers',
      consequence:
        'You stay signed in here. The other browsers stop at once, and messages that they have not sent yet are lost. Apps and access tokens keep working.',
    },
  },

  setup: {
    title: 'Set up Parley',
    about: 'Welcome. Choose your name and a password: you will be the first administrator of this service.',
    setUp: 'Set up',
  },

  signIn: {
    title: signIn,
    name: 'Name',
    wrong: 'The name or the password is wrong.',
    disabled: 'Your account is disabled, so you cannot sign in. Ask an administrator to enable it again.',
    signedOut: 'You were signed out in this browser. Sign in to continue.',
    noAccount: (link: Link): Child => <>No account yet? {link(signUp)}</>,
    noInvitation: 'No account yet? Ask an administrator for an invitation.',
    forgotten: 'Forgot your password? Ask an administrator for a link to choose a new one.',
  },

  signUp: {
    title: signUp,
    /** With an invitation. */
    join: (service: string) => `Join ${service}`,
    invitedBy: ({ name, service }: { name: Child; service: Child }): Child => (
      <>
        {name} invites you to {service}.
      </>
    ),
    signedIn: (name: Child): Child => (
      <>You are signed in as {name}. This creates another account and signs you in to it.</>
    ),
    about: 'Choose a name and a password.',
    signUp,
    noRoom: ({ isInvited }: { isInvited: boolean }) =>
      `The server has no room for new accounts right now. ${isInvited ? 'Your invitation stays valid. ' : ''}Tell an administrator, and try again later.`,
    closed: {
      title: 'You cannot sign up here',
      invitation: 'You need an invitation. Ask an administrator for one, and open its link.',
      closed: 'Only administrators can create accounts here. Ask one to create yours.',
    },
  },
};
