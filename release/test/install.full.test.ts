import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { describeUnless, requirePrograms } from '@parley/server/test/support/requirements.ts';
import { runBlocks, shellBlocks } from '@parley/server/test/support/shell.ts';
import { bundle, root } from '../bundle.ts';

const blocks = shellBlocks(readFileSync(join(root, 'deploy/README.md'), 'utf8'));

/** Returns the block with these words. */
function blockWith(words: string): string {
  const found = blocks.filter((block) => block.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks of deploy/README.md contain: ${words}`);
  return found[0] ?? '';
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/usr/bin/env bash\n${script}`);
  chmodSync(path, 0o755);
}

/** Does for the unit what systemd does. */
const systemctl = (stage: string, port: number) => `
  stop() {
    [ -e ${stage}/pid ] || return 0
    kill "$(cat ${stage}/pid)"
    while kill -0 "$(cat ${stage}/pid)" 2>${stage}/ended; do sleep 0.05; done
    rm ${stage}/pid
  }
  start() {
    install -d -m 700 -o nobody -g nogroup ${stage}/var/lib/parley
    cd ${stage}/var/lib/parley
    set -a; . ${stage}/etc/parley.env; PARLEY_DATA=$PWD; PORT=${port}
    setpriv --reuid=nobody --regid=nogroup --clear-groups parley serve >>${stage}/log 2>&1 &
    echo $! >${stage}/pid
  }
  case "$1" in stop) stop ;; daemon-reload) ;; *) stop; start ;; esac
`;

const missing =
  process.getuid?.() === 0 ? requirePrograms('bash', 'runuser', 'setpriv') : 'it installs a service, as root';

describeUnless(missing, 'an installation as deploy/README.md describes it', () => {
  const stage = temporaryFolder();
  /** Other users may not read it, like the home folder of root. */
  const home = temporaryFolder();
  const at = (path: string) => join(stage, path);
  let environment: Record<string, string>;

  beforeAll(async () => {
    // The service runs as another user, who has to reach its folders.
    for (const folder of [dirname(stage), stage]) chmodSync(folder, 0o711);
    for (const folder of ['bin', 'tmp', 'etc/systemd/system', 'var/lib', 'var/backups', 'usr/local/bin']) {
      mkdirSync(at(folder), { recursive: true });
    }
    const port = await freePort();
    for (const name of ['useradd', 'journalctl']) writeProgram(at(`bin/${name}`), '');
    writeProgram(at('bin/systemctl'), systemctl(stage, port));
    environment = {
      PATH: `${at('usr/local/bin')}:${at('bin')}:${process.env.PATH}`,
      HOME: home,
      TMPDIR: at('tmp'),
      PARLEY_URL: `http://127.0.0.1:${port}`,
    };
    await bundle({ executable: at('parley-linux-x64') });
  });
  afterAll(() => void Bun.spawnSync([at('bin/systemctl'), 'stop', 'parley'], { env: environment }));

  /** Runs a block in the folders of the stage, with a user that every machine has. Returns its output. */
  const execute = async (block: string): Promise<string> => {
    const { outputs } = await runBlocks([block], { cwd: home, env: environment }, (script) =>
      script
        .replaceAll(/(?<![\w.])\/(?=(etc|usr|var)\/)/g, `${stage}/`)
        .replaceAll(/(dist\/parley|parley-linux-x64)(?= )/g, at('parley-linux-x64'))
        .replaceAll('deploy/parley-executable', join(root, 'deploy/parley-executable'))
        .replaceAll('-u parley', '-u nobody')
        .replaceAll('-o parley -g parley', '-o nobody -g nogroup'),
    );
    return outputs.join('');
  };
  const listing = blockWith('PARLEY_DATA=/var/lib/parley parley user list');
  const users = () => execute(listing);
  const addUser = (name: string) => execute(listing.replace('user list', `user add ${name}`));
  const upgrade = blockWith('parley.before &&\ninstall');
  const backup = at('var/backups/parley/before.backup');

  test('starts, keeps its keys to root, and leaves them nowhere else', async () => {
    const install = blockWith('install dist/parley');
    await execute(`${install}\nuntil parley status; do sleep 0.2; done`);
    const settings = readFileSync(at('etc/parley.env'), 'utf8');
    expect(settings).toContain('PARLEY_SECRET_KEY=');
    expect([modeOf(at('etc/parley.env')), readdirSync(at('tmp'))]).toEqual(['600', []]);
    await execute(install);
    expect(readFileSync(at('etc/parley.env'), 'utf8')).toBe(settings);
    await execute('until parley status; do sleep 0.2; done');
    await addUser('ada');
    expect(await users()).toContain('ada');
  }, 60_000);

  test('is upgraded after a backup that only the service can read', async () => {
    await execute(upgrade);
    expect(statSync(backup).size).toBeGreaterThan(1_000);
    expect([modeOf(backup), modeOf(dirname(backup))]).toEqual(['600', '700']);
    expect(existsSync(at('usr/local/bin/parley.before'))).toBe(true);
  }, 60_000);

  test('is not touched if the backup fails', async () => {
    const changedAt = () => ['parley', 'parley.before'].map((name) => statSync(at(`usr/local/bin/${name}`)).mtimeMs);
    const before = changedAt();
    await expect(execute(upgrade)).rejects.toThrow('before.backup already exists');
    expect(changedAt()).toEqual(before);
  }, 60_000);

  test('goes back to the backup', async () => {
    await addUser('grace');
    await execute(`${blockWith('/var/lib/parley.after')}\nuntil parley status; do sleep 0.2; done`);
    expect(existsSync(at('usr/local/bin/parley.before'))).toBe(false);
    const found = await users();
    expect({ ada: found.includes('ada'), grace: found.includes('grace') }).toEqual({ ada: true, grace: false });
  }, 60_000);
});

test('every command as the user of the service has its settings, and a folder that it can read', () => {
  const commands = blocks.flatMap((block) => block.replaceAll(/&&\n|\\\n/g, '').split('\n'));
  const asService = commands.filter((command) => command.includes('runuser'));
  expect(asService.length).toBeGreaterThan(4);
  for (const command of asService) {
    expect(command).toMatch(/\(cd \/\S+ && set -a && \. \/etc\/parley\.env\b.* runuser /);
  }
});

describe.each(['docker exec', 'docker compose -f deploy/compose.yaml exec -T'])('a backup with %s', (words) => {
  const execute = async (docker: string) => {
    const [cwd, path] = [temporaryFolder(), temporaryFolder()];
    writeProgram(join(path, 'docker'), docker);
    const block = blocks.find((one) => one.includes(`${words} `) && one.includes(' backup ')) ?? 'false';
    const run = runBlocks([block], { cwd, env: { PATH: `${path}:${process.env.PATH}` } });
    return {
      cwd,
      failed: await run.then(
        () => false,
        () => true,
      ),
    };
  };

  test('is for its owner only', async () => {
    const { cwd, failed } = await execute('echo saved');
    expect({ failed, files: readdirSync(cwd), mode: modeOf(join(cwd, 'parley.backup')) }).toEqual({
      failed: false,
      files: ['parley.backup'],
      mode: '600',
    });
  });

  test('that fails replaces nothing', async () => {
    const { cwd, failed } = await execute('exit 1');
    expect({ failed, exists: existsSync(join(cwd, 'parley.backup')) }).toEqual({ failed: true, exists: false });
  });
});
