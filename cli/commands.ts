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
const webhooks = () => import('./commands/webhooks.ts');
const deliveries = () => import('./commands/deliveries.ts');
const profiles = () => import('./commands/profile.ts');
const replays = () => import('./commands/replays.ts');

/** Every command. The dispatch and the help derive from this table. */
export const commands: readonly Row[] = [
  { name: 'init', summary: 'Write the settings and keys of a new server.', load: () => import('./commands/init.ts') },
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
  {
    name: 'profile add',
    summary: 'Name a server, to use it by its name.',
    load: async () => ({ command: (await profiles()).add }),
  },
  { name: 'profile list', summary: 'List the profiles.', load: async () => ({ command: (await profiles()).list }) },
  { name: 'profile use', summary: 'Use another profile.', load: async () => ({ command: (await profiles()).use }) },
  { name: 'profile remove', summary: 'Remove a profile.', load: async () => ({ command: (await profiles()).remove }) },
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
  {
    name: 'events tail',
    summary: 'Show events as they happen.',
    load: async () => ({ command: (await import('./commands/events.ts')).tailEvents }),
  },
  { name: 'webhooks list', summary: 'List your webhooks.', load: async () => ({ command: (await webhooks()).list }) },
  {
    name: 'webhooks show',
    summary: 'Show a webhook, and why it fails.',
    load: async () => ({ command: (await webhooks()).show }),
  },
  {
    name: 'webhooks create',
    summary: 'Register a webhook.',
    load: async () => ({ command: (await webhooks()).create }),
  },
  {
    name: 'webhooks update',
    summary: 'Change the URL or the events of a webhook.',
    load: async () => ({ command: (await webhooks()).update }),
  },
  {
    name: 'webhooks test',
    summary: 'Send a sample event to a webhook.',
    load: async () => ({ command: (await webhooks()).test }),
  },
  {
    name: 'webhooks receive',
    summary: 'Receive webhooks on this machine, and verify them.',
    load: async () => ({ command: (await import('./commands/receive.ts')).receive }),
  },
  { name: 'webhooks pause', summary: 'Pause a webhook.', load: async () => ({ command: (await webhooks()).pause }) },
  {
    name: 'webhooks resume',
    summary: 'Make a paused or disabled webhook active.',
    load: async () => ({ command: (await webhooks()).resume }),
  },
  {
    name: 'webhooks rotate',
    summary: 'Give a webhook another secret.',
    load: async () => ({ command: (await webhooks()).rotate }),
  },
  {
    name: 'webhooks delete',
    summary: 'Delete a webhook.',
    load: async () => ({ command: (await webhooks()).remove }),
  },
  {
    name: 'webhooks deliveries',
    summary: 'List the deliveries of a webhook.',
    load: async () => ({ command: (await deliveries()).list }),
  },
  {
    name: 'webhooks delivery',
    summary: 'Show a delivery with its attempts.',
    load: async () => ({ command: (await deliveries()).show }),
  },
  {
    name: 'webhooks redeliver',
    summary: 'Send deliveries again now.',
    load: async () => ({ command: (await deliveries()).redeliver }),
  },
  {
    name: 'webhooks skip',
    summary: 'Skip deliveries, so that their chats continue.',
    load: async () => ({ command: (await deliveries()).skip }),
  },
  {
    name: 'webhooks replay',
    summary: 'Send past events to a webhook again.',
    load: async () => ({ command: (await replays()).replay }),
  },
  {
    name: 'webhooks cancel',
    summary: 'Cancel a replay.',
    load: async () => ({ command: (await replays()).cancel }),
  },
  {
    name: 'webhooks replays',
    summary: 'List the replays of a webhook.',
    load: async () => ({ command: (await replays()).list }),
  },
  { name: 'api', summary: 'Call any operation of the API.', load: () => import('./commands/api.ts') },
  { name: 'status', summary: 'Show whether a server is ready.', load: () => import('./commands/status.ts') },
  { name: 'logs', summary: "Find a request in the server's log.", load: () => import('./commands/logs.ts') },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell.',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'licenses',
    summary: 'Show the licenses of the software in Parley.',
    load: () => import('./commands/licenses.ts'),
  },
];
