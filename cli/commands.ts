import type { Command } from './command.ts';

export interface Row {
  readonly name: string;
  readonly summary: string;
  /** Loads the command on demand, so that help and version do not wait for the server's code. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

const users = () => import('./commands/users.ts');
const tokens = () => import('./commands/token.ts');
const apps = () => import('./commands/apps.ts');

/** Every command. The dispatch and the help derive from this table. */
export const commands: readonly Row[] = [
  { name: 'serve', summary: 'Start the server.', load: () => import('./commands/serve.ts') },
  { name: 'user add', summary: 'Add a user.', load: async () => ({ command: (await users()).add }) },
  { name: 'user list', summary: 'List the users.', load: async () => ({ command: (await users()).list }) },
  {
    name: 'user password',
    summary: "Set a user's password.",
    load: async () => ({ command: (await users()).password }),
  },
  { name: 'bot add', summary: 'Add a bot.', load: async () => ({ command: (await users()).botAdd }) },
  {
    name: 'token create',
    summary: 'Create an access token.',
    load: async () => ({ command: (await tokens()).create }),
  },
  {
    name: 'token list',
    summary: "List a user's access tokens.",
    load: async () => ({ command: (await tokens()).listTokens }),
  },
  {
    name: 'token revoke',
    summary: 'Revoke an access token.',
    load: async () => ({ command: (await tokens()).revoke }),
  },
  { name: 'audit', summary: 'Show the audit log.', load: () => import('./commands/audit.ts') },
  { name: 'backup', summary: 'Back up a server.', load: () => import('./commands/backup.ts') },
  { name: 'restore', summary: 'Restore a backup into a new server.', load: () => import('./commands/restore.ts') },
  { name: 'login', summary: 'Sign in to a server with a browser.', load: () => import('./commands/login.ts') },
  { name: 'logout', summary: 'Sign out.', load: () => import('./commands/logout.ts') },
  { name: 'whoami', summary: 'Show who you are signed in as.', load: () => import('./commands/whoami.ts') },
  { name: 'apps list', summary: 'List your OAuth apps.', load: async () => ({ command: (await apps()).list }) },
  {
    name: 'apps register',
    summary: 'Register an OAuth app.',
    load: async () => ({ command: (await apps()).register }),
  },
  { name: 'apps delete', summary: 'Delete an OAuth app.', load: async () => ({ command: (await apps()).remove }) },
  { name: 'chats', summary: 'List your chats, or public channels.', load: () => import('./commands/chats.ts') },
  { name: 'messages', summary: 'Read the messages of a chat.', load: () => import('./commands/messages.ts') },
  { name: 'send', summary: 'Send a message, a file or both to a chat.', load: () => import('./commands/send.ts') },
  { name: 'upload', summary: 'Upload a file to send it later.', load: () => import('./commands/upload.ts') },
  { name: 'download', summary: 'Download a file.', load: () => import('./commands/download.ts') },
  { name: 'listen', summary: 'Show events live, or forward them.', load: () => import('./commands/listen.ts') },
];
