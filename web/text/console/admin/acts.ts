import { countsIn } from '../../shared/counts.ts';

const { number, plural } = countsIn('en');

/** A person or an app in a sentence, or a text that somebody wrote. */
export interface Named {
  readonly of: 'user' | 'app' | 'text';
  readonly name: string;
  readonly id?: number;
}

/** A piece of a sentence. A name is not a text, so that a page can link it and keep its direction. */
export type Piece = string | Named;

/** The facts of an entry, as its sentence needs them. */
export interface Facts {
  /** Who did it. */
  readonly who: Piece;
  /** Whether it is known who did it. */
  readonly isKnown: boolean;
  /** Whether a detail is the id of who did it. */
  readonly isSelf: (key: string) => boolean;
  /** The user or app with the id in a detail. */
  readonly named: (key: string) => Piece;
  readonly has: (key: string) => boolean;
  readonly text: (key: string) => Piece;
  readonly number: (key: string) => number;
  readonly size: (key: string) => string;
  readonly list: (key: string) => string;
}

interface ActWords {
  /** In the list of filters. */
  readonly label: string;
  readonly say: (facts: Facts) => readonly Piece[];
}

const roles: Readonly<Record<string, string>> = { owner: 'owner', admin: 'administrator', member: 'member' };
const roleOf = (role: Piece) => (typeof role === 'string' ? (roles[role] ?? role) : (roles[role.name] ?? role.name));

const quoted = (name: Piece): readonly Piece[] => ['“', name, '”'];

const lookAlikes = ({ has, list }: Facts): readonly Piece[] =>
  has('look_alikes') ? [` Others look like them: ${list('look_alikes')}.`] : [];

const ofUser = ({ has, isSelf, named }: Facts, word: string): readonly Piece[] =>
  has('user_id') && !isSelf('user_id') ? [` ${word} `, named('user_id')] : [];

const webhook = ({ number: count, text, has }: Facts): readonly Piece[] => [
  `webhook ${count('webhook_id')}`,
  ...(has('url') ? [', ', text('url')] : []),
  ...(has('service_wide') ? [', for the whole service'] : []),
];

/** Every act of the audit log. Their names are those of `server/auth/acts.ts`. */
export const acts: Readonly<Record<string, ActWords>> = {
  service_set_up: { label: 'Set up the service', say: ({ who }) => [who, ' set up the service.'] },
  signed_in: {
    label: 'Signed in',
    say: ({ who, has }) => [who, has('known_device') ? ' signed in.' : ' signed in with a new browser.'],
  },
  sign_in_failed: {
    label: 'Failed to sign in',
    say: ({ who, isKnown, has }) => {
      if (!isKnown) return ['Somebody failed to sign in with a name that nobody has.'];
      return ['Somebody failed to sign in as ', who, has('disabled') ? ', who is disabled.' : '.'];
    },
  },
  sign_in_throttled: {
    label: 'Slowed down at signing in',
    say: ({ who, isKnown }) =>
      isKnown
        ? ['Too many attempts to sign in as ', who, ': they were slowed down.']
        : ['Too many attempts to sign in: they were slowed down.'],
  },
  signed_out: {
    label: 'Signed out',
    say: ({ who, has, text, number: count }) => {
      if (has('other_sessions')) {
        return [
          who,
          ` ended ${plural(count('other_sessions'), { one: 'another session', other: '# other sessions' })}.`,
        ];
      }
      return has('browser') ? [who, ' ended the session in ', text('browser'), '.'] : [who, ' signed out.'];
    },
  },
  signed_up: {
    label: 'Signed up',
    say: ({ who, has, named }) => [
      who,
      ' signed up',
      ...(has('invited_by') ? [', invited by ', named('invited_by')] : []),
      '.',
    ],
  },
  password_changed: {
    label: 'Changed a password',
    say: (facts) => {
      const { who, has } = facts;
      if (has('user_id')) return [who, ' set the password', ...ofUser(facts, 'of'), '.'];
      return [who, has('with') ? ' chose a new password with a link.' : ' changed their password.'];
    },
  },
  password_link_created: {
    label: 'Created a password link',
    say: (facts) => [facts.who, ' created a link for a new password', ...ofUser(facts, 'of'), '.'],
  },
  invitation_created: {
    label: 'Created an invitation',
    say: ({ who, has, text }) => [
      who,
      ' created an invitation',
      ...(has('note') ? [': ', ...quoted(text('note'))] : []),
      '.',
    ],
  },
  invitation_withdrawn: {
    label: 'Withdrew an invitation',
    say: ({ who, number: count }) => [who, ` withdrew invitation ${count('invitation_id')}.`],
  },
  service_changed: {
    label: 'Changed the service',
    say: ({ who, text, has, number: count }) => [
      who,
      ' changed the service: it is called ',
      ...quoted(text('name')),
      has('welcome_chat_id')
        ? `, and new people join chat ${count('welcome_chat_id')}.`
        : ', and new people join no chat.',
    ],
  },
  user_created: {
    label: 'Created a user',
    say: (facts) => {
      const { who, has, named } = facts;
      const kind = has('is_admin') ? ' created the administrator ' : ' created the user ';
      return [who, kind, named('user_id'), '.', ...lookAlikes(facts)];
    },
  },
  user_disabled: { label: 'Disabled a user', say: ({ who, named }) => [who, ' disabled ', named('user_id'), '.'] },
  user_enabled: { label: 'Enabled a user', say: ({ who, named }) => [who, ' enabled ', named('user_id'), '.'] },
  administrator_changed: {
    label: 'Changed an administrator',
    say: (facts) => {
      const { who, has, isSelf, named } = facts;
      if (!has('is_admin') && isSelf('user_id')) return [who, ' stepped down as an administrator.'];
      const [verb, end] = has('is_admin') ? [' made ', ' an administrator.'] : [' removed ', ' as an administrator.'];
      return [who, verb, named('user_id'), end, ...lookAlikes(facts)];
    },
  },
  bot_created: {
    label: 'Created a bot',
    say: ({ who, has, named }) => [
      who,
      ' created the bot ',
      named('bot_id'),
      ...(has('owner_id') ? [' for ', named('owner_id')] : []),
      '.',
    ],
  },
  hook_created: {
    label: 'Created an incoming webhook',
    say: ({ who, number: count, named }) => [
      who,
      ` created the incoming webhook ${count('hook_id')} of chat ${count('chat_id')}, which posts as `,
      named('bot_id'),
      '.',
    ],
  },
  hook_revoked: {
    label: 'Revoked an incoming webhook',
    say: ({ who, number: count, named }) => [
      who,
      ` revoked the incoming webhook ${count('hook_id')} of chat ${count('chat_id')}, which posted as `,
      named('bot_id'),
      '.',
    ],
  },
  token_created: {
    label: 'Created an access token',
    say: (facts) => [
      facts.who,
      ' created the access token ',
      ...quoted(facts.text('name')),
      ...ofUser(facts, 'for'),
      '.',
    ],
  },
  token_revoked: {
    label: 'Revoked an access token',
    say: (facts) => [
      facts.who,
      ' revoked the access token ',
      ...quoted(facts.text('name')),
      ...ofUser(facts, 'of'),
      '.',
    ],
  },
  app_registered: {
    label: 'Registered an app',
    say: ({ who, named }) => [who, ' registered the app ', named('app_id'), '.'],
  },
  app_changed: { label: 'Changed an app', say: ({ who, named }) => [who, ' changed the app ', named('app_id'), '.'] },
  app_secret_replaced: {
    label: "Replaced an app's secret",
    say: ({ who, named }) => [who, ' replaced the secret of the app ', named('app_id'), '.'],
  },
  app_deleted: { label: 'Deleted an app', say: ({ who, named }) => [who, ' deleted the app ', named('app_id'), '.'] },
  access_granted: {
    label: 'Authorized an app',
    say: ({ who, named }) => [who, ' authorized the app ', named('app_id'), '.'],
  },
  access_revoked: {
    label: "Ended an app's access",
    say: ({ who, named }) => [who, ' ended the access of the app ', named('app_id'), '.'],
  },
  code_replayed: {
    label: 'A code came twice',
    say: ({ who }) => ['An authorization code of ', who, ' came twice. What it gave was revoked.'],
  },
  refresh_token_replayed: {
    label: 'A refresh token came twice',
    say: ({ who }) => ['A refresh token of ', who, ' came twice. Its authorization was revoked.'],
  },
  role_changed: {
    label: "Changed a participant's role",
    say: ({ who, named, number: count, text }) => [
      who,
      ' changed the role of ',
      named('user_id'),
      ` in chat ${count('chat_id')} from ${roleOf(text('previous_role'))} to ${roleOf(text('role'))}.`,
    ],
  },
  webhook_url_tested: {
    label: 'Tested a URL for a webhook',
    say: ({ who, text }) => [who, ' tested the URL ', text('url'), ' for a webhook.'],
  },
  webhook_registered: {
    label: 'Registered a webhook',
    say: (facts) => [facts.who, ' registered ', ...webhook(facts), '.'],
  },
  webhook_changed: { label: 'Changed a webhook', say: (facts) => [facts.who, ' changed ', ...webhook(facts), '.'] },
  webhook_secret_rotated: {
    label: "Rotated a webhook's secret",
    say: (facts) => [facts.who, ' rotated the secret of ', ...webhook(facts), '.'],
  },
  webhook_deleted: { label: 'Deleted a webhook', say: (facts) => [facts.who, ' deleted ', ...webhook(facts), '.'] },
  backup_made: {
    label: 'Made a backup',
    say: ({ who, number: count, size, has }) => [
      who,
      ` made ${has('encrypted') ? 'an encrypted backup' : 'a backup'} of ${plural(count('messages'), { one: '# message', other: '# messages' })}` +
        ` and ${plural(count('files'), { one: '# file', other: '# files' })}: ${size('bytes')}.`,
    ],
  },
  acts_left_out: {
    label: 'Left out',
    say: ({ who, text }) => [
      who,
      ` did the same more than ${number(100)} times within an hour: `,
      ...quoted(labelOf(text('event'))),
      '. The rest is left out.',
    ],
  },
};

/** Returns the label of an act, or its name if a newer server has it. */
export function labelOf(act: Piece): string {
  const name = typeof act === 'string' ? act : act.name;
  return acts[name]?.label ?? name;
}
