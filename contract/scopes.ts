/** The scopes of access tokens, in words for the consent page. */
export const scopes = {
  'messages:read': 'Read the messages and events of your chats',
  'messages:write': 'Send, edit and delete messages, react, mark chats as read, and set your presence',
  'chats:read': 'See your chats, their participants, and other users',
  'chats:write': 'Create, change, join and leave chats, manage their participants, and change your profile',
  webhooks: 'Register webhooks and see their deliveries',
  files: 'Upload and download files',
  apps: 'Register, list and delete your apps',
  admin: 'Administer the service (administrators only)',
} as const;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as [Scope, ...Scope[]];

type BotScope = Exclude<Scope, 'admin' | 'apps'>;

function isBotScope(scope: Scope): scope is BotScope {
  return scope !== 'admin' && scope !== 'apps';
}

/** The scopes of a bot, which can neither be an administrator nor have apps. */
export const botScopes = scopeNames.filter(isBotScope) as [BotScope, ...BotScope[]];
