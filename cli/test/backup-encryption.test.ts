import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { emptyEnvironment, onAnyEngine } from '@parley/server/test/support/engines.ts';
import { someBytes } from '@parley/server/test/support/files.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { at, bytesOf, handmade, leftIn, newPath, otherEngine } from './backups.ts';
import { failed, parley, said } from './parley.ts';

function fileWith(passphrase: string | Uint8Array): string {
  const path = join(temporaryFolder(), 'passphrase');
  writeFileSync(path, passphrase);
  return path;
}

onAnyEngine('a backup with a passphrase', (engine) => {
  test('restores into the other engine with it, and not without it or after a change', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const ada = await server.user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [] })).group;
    const contents = crypto.getRandomValues(someBytes(65_000));
    const file = new File([contents, contents, contents], 'a.bin');
    const { message } = await ada.ok('messages.send_message', { chat_id, content: 'Confidential', file });
    const path = newPath();
    const withFile = ['--passphrase-file', fileWith('open sesame\n')];
    const told = JSON.parse(await said(['backup', path, '--json', ...withFile], env));
    await server.stop();
    const bytes = readFileSync(path);
    expect(told).toMatchObject({ encrypted: true, messages: 1, files: 1, bytes: bytes.length });

    const target = await emptyEnvironment(otherEngine(engine));
    const wrong = { ...target, PARLEY_BACKUP_PASSPHRASE: 'open barley' };
    expect(await parley(['restore', path], target)).toEqual(failed(1, 'The backup is encrypted. Give its passphrase'));
    expect(await parley(['restore', path], wrong)).toEqual(failed(1, 'The passphrase is wrong'));
    const right = { ...target, PARLEY_BACKUP_PASSPHRASE: 'open sesame' };
    const changed = Buffer.from(bytes);
    changed[bytes.length >> 1] = (changed[bytes.length >> 1] ?? 0) ^ 1;
    // A pipe is not checked first: the restore has begun when it finds the damage.
    expect(await parley(['restore', '-'], right, changed)).toEqual(failed(1, 'The backup is damaged or truncated: '));
    expect(await leftIn(target)).toEqual([]);

    // The option goes before the environment.
    await said(['restore', path, ...withFile], wrong);
    const again = await startServer(target);
    const found = await at(again, ada).ok('messages.get_messages', { chat_id });
    expect(found.messages.map(({ content }) => content)).toEqual(['Confidential']);
    const restored = await bytesOf(at(again, ada), message.file?.file_id ?? 0);
    expect(Buffer.from(restored.bytes).equals(Buffer.concat([contents, contents, contents]))).toBe(true);
    await again.stop();
  });
});

describe('a passphrase', () => {
  test('is refused for a backup that is not encrypted', async () => {
    const env = await emptyEnvironment('sqlite');
    const path = await handmade({});
    const refused = failed(1, 'The backup is not encrypted. Restore it without a passphrase');
    expect(await parley(['restore', path], { ...env, PARLEY_BACKUP_PASSPHRASE: 'x' })).toEqual(refused);
    expect(await leftIn(env)).toEqual([]);
    await said(['restore', path], { ...env, PARLEY_BACKUP_PASSPHRASE: '' });
  });

  test('must be in its file', async () => {
    const env = await emptyEnvironment('sqlite');
    const backup = (file: string) => parley(['backup', newPath(), '--passphrase-file', file], env);
    expect(await backup(join(temporaryFolder(), 'none'))).toEqual(failed(1, 'There is no file '));
    expect(await backup(fileWith('\n'))).toEqual(failed(1, 'is empty. Write a passphrase into it.'));
    expect(await backup(fileWith(new Uint8Array([0xff, 0xfe])))).toEqual(failed(2, 'must be UTF-8 text.'));
  });
});
