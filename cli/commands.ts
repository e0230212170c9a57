import type { Command } from './command.ts';

export interface Row {
  readonly name: string;
  readonly summary: string;
  /** Loads the command only when it is asked for: help and version answer before the server's code would have loaded. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command. Finding one and the help derive from this table. */
export const commands: readonly Row[] = [
  { name: 'serve', summary: 'Start the server.', load: () => import('./commands/serve.ts') },
  { name: 'user add', summary: 'Add a user.', load: () => import('./commands/user-add.ts') },
  { name: 'user list', summary: 'List the users.', load: () => import('./commands/user-list.ts') },
  { name: 'user password', summary: "Set a user's password.", load: () => import('./commands/user-password.ts') },
  { name: 'bot add', summary: 'Add a bot.', load: () => import('./commands/bot-add.ts') },
  { name: 'token create', summary: 'Create an access token.', load: () => import('./commands/token-create.ts') },
  { name: 'token list', summary: "List a user's access tokens.", load: () => import('./commands/token-list.ts') },
  { name: 'token revoke', summary: 'Revoke an access token.', load: () => import('./commands/token-revoke.ts') },
  {
    name: 'audit',
    summary: 'Show what was done that bears on security.',
    load: () => import('./commands/audit.ts'),
  },
  { name: 'backup', summary: 'Save everything that a server keeps.', load: () => import('./commands/backup.ts') },
  { name: 'restore', summary: 'Fill a new server from a backup.', load: () => import('./commands/restore.ts') },
  { name: 'login', summary: 'Sign in to a server with a browser.', load: () => import('./commands/login.ts') },
  { name: 'logout', summary: 'Sign out.', load: () => import('./commands/logout.ts') },
  { name: 'whoami', summary: 'Tell who you are to a server.', load: () => import('./commands/whoami.ts') },
  { name: 'chats', summary: 'List your chats, or public channels.', load: () => import('./commands/chats.ts') },
  { name: 'messages', summary: 'Read the messages of a chat.', load: () => import('./commands/messages.ts') },
  { name: 'send', summary: 'Send a message, a file or both into a chat.', load: () => import('./commands/send.ts') },
  { name: 'upload', summary: 'Upload a file, to send it later.', load: () => import('./commands/upload.ts') },
  { name: 'download', summary: 'Download a file.', load: () => import('./commands/download.ts') },
  {
    name: 'listen',
    summary: 'Show events as they happen, or forward them.',
    load: () => import('./commands/listen.ts'),
  },
];
