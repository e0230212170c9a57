import { expect } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { postgresMissing, sharedPostgres } from '../support/postgres.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { startServer } from '../support/server.ts';
import { runBlocks, shellBlocks } from '../support/shell.ts';

const root = join(import.meta.dir, '../../..');
const blocks = shellBlocks(readFileSync(join(root, 'docs/backup.md'), 'utf8'));

testUnless(
  postgresMissing ?? requirePrograms('bash', 'tar', 'zstd'),
  'every command of the page works, and a server starts on what was restored',
  async () => {
    const server = await startServer(await freshEnvironment('sqlite'));
    const ada = await server.user('ada');
    await ada.ok('messages.create_group', { name: 'Launch', participants: [] });
    await ada.ok('messages.send_message', { chat_id: 1, content: 'Hello', file: new File(['The plan'], 'plan.txt') });
    const [folder, postgres] = [temporaryFolder(), await sharedPostgres()];
    const databases = { parley: await postgres.emptyDatabase(), moved: await postgres.emptyDatabase() };
    const { outputs } = await runBlocks(
      blocks,
      { cwd: root, env: { ...process.env, ...server.env, DATABASE_URL: '' } },
      (script) =>
        script
          .replaceAll('/tmp/', `${folder}/`)
          .replaceAll('postgres://parley@localhost/parley', databases.parley)
          .replaceAll('postgres://parley@localhost/moved', databases.moved),
    );
    await server.stop();
    expect(outputs[0]).toMatch(/^Saved \S+\/parley\.backup: 1 message, 1 file, \S+ KiB in \S+ seconds\.\n/);
    expect(outputs.join('')).toContain('files/1\n');
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.filter(({ name }) => name.endsWith('.part'))).toEqual([]);
    // Every file is a backup or a passphrase.
    expect(files.length).toBeGreaterThan(4);
    expect(files.filter(({ name }) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([]);
    const restored = [
      { PARLEY_DATA: join(folder, 'restored') },
      { PARLEY_DATA: join(folder, 'decrypted') },
      { PARLEY_DATA: join(folder, 'restored-files'), DATABASE_URL: databases.parley },
      { PARLEY_DATA: join(folder, 'moved'), DATABASE_URL: databases.moved },
    ];
    for (const place of restored) {
      const again = await startServer({ ...server.env, ...place });
      const { messages } = await new Client(again.url, ada.token, ada.userId).ok('messages.get_messages', {
        chat_id: 1,
      });
      expect(messages.map(({ content, file }) => [content, file?.name])).toEqual([['Hello', 'plan.txt']]);
      await again.stop();
    }
  },
  // Each command starts npm, which takes a busy machine long.
  600_000,
);
