import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { publicUrl } from '@parley/server/config.ts';
import { program, quoted, startCommand } from '@parley/server/lib/program.ts';
import { defineCommand } from '../command.ts';
import { hint, oneLine, print } from '../output.ts';
import { text } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    url: {
      value: 'url',
      summary: 'The public URL, such as https://chat.example.com, if a proxy serves it.',
      read: publicUrl,
    },
    data: { value: 'folder', summary: 'The data folder. Defaults to PARLEY_DATA, or ./data.', read: text },
  },
  notes: `It writes .env in this folder, with new keys and the settings that a server needs first. It does not replace an
existing file. serve, and the commands that open the database, read it. So does compose.`,
  async run(_, { url, data: typed }, context) {
    const data = typed ?? (context.env.PARLEY_DATA || undefined);
    const path = join(context.cwd, '.env');
    const folder = resolve(context.cwd, data ?? 'data');
    // A server that has run there already has its key in the folder, and would refuse another one.
    const hasKey = existsSync(join(folder, 'secret.key'));
    const content = [
      ...(url ? publicLines(url) : localLines),
      ...(data === undefined ? [] : ['', '# Where everything is stored.', `PARLEY_DATA=${JSON.stringify(data)}`]),
      '',
      ...(hasKey ? keyInFolder : keyLines()),
      '',
      '# Programs on other machines send it to read /metrics.',
      `PARLEY_METRICS_TOKEN=${randomBytes(24).toString('hex')}`,
      '',
      '# Backups into the folder backups of the data folder. PARLEY_BACKUP_FOLDER names another one, better on another disk.',
      'PARLEY_BACKUP_EVERY=24h',
      'PARLEY_BACKUP_KEEP=7',
      '',
    ];
    try {
      // Only its owner may read it.
      writeFileSync(path, content.join('\n'), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new Error(`${path} exists already. It was not changed: its keys may be in use.`);
    }
    await print(context, oneLine(`Wrote ${path}.`));
    const hasCompose = url && existsSync(join(context.cwd, composeFile));
    const steps = hasCompose ? composeSteps(context.cwd) : [startCommand, `${program} status`];
    await hint(context, `Start the server: ${steps.join('. Then: ')}`);
  },
});

/** The file for one server, which needs a public URL. */
const composeFile = 'compose.single.yaml';

/** The path is absolute, so that the commands work in every folder. */
function composeSteps(folder: string): string[] {
  const compose = `docker compose -f ${quoted(join(folder, composeFile))}`;
  return [`${compose} up -d --build --wait`, `${compose} logs node`];
}

const publicLines = (url: URL): string[] => [
  '# The URL for people and programs. A proxy on this machine, or in the same compose file, serves it.',
  `PUBLIC_URL=${url.origin}`,
  'TRUST_PROXY=1',
];

const localLines = [
  '# Only this machine can reach the server. For a local network: HOST=0.0.0.0. Behind a proxy:',
  '# PUBLIC_URL=https://chat.example.com and TRUST_PROXY=1',
  'HOST=127.0.0.1',
  'PORT=8080',
];

const keyLines = (): string[] => [
  '# Encrypts the secrets of webhooks. Keep a copy apart from the backups: they do not contain it, and need it.',
  `PARLEY_SECRET_KEY=${randomBytes(32).toString('base64')}`,
];

const keyInFolder = ['# The key that encrypts the secrets of webhooks is secret.key in the data folder.'];
