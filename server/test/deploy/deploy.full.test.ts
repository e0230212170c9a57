import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import { readSettings, settingsTable } from '../../config.ts';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { copied, instructions, isIgnored, layOut, root } from '../support/image.ts';
import { freePort } from '../support/postgres.ts';
import { noteSkipped, notInstalled } from '../support/requirements.ts';
import { announce, append } from '../support/tus.ts';

const read = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8');

const settings: ReadonlySet<string> = new Set(Object.values(settingsTable).map(({ env }) => env));

/** Variables of the runtime and its libraries. */
const notOurs = /^(PATH|NODE_ENV|BUN_\w+)$/;

/** NAME=value or NAME="value", separated by spaces. */
const assignments = (text: string): [string, string][] =>
  [...text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain]);

describe('the image', () => {
  const text = (name: string) =>
    instructions()
      .filter((one) => one.name === name)
      .map((one) => one.text);
  const workspaces = packageJson.workspaces.filter((name) => copied().some(({ source }) => source === name));

  test('is made of files that are there and are not kept out', () => {
    expect(copied().length).toBeGreaterThan(4);
    for (const { source } of copied()) {
      expect({ source, exists: existsSync(join(root, source)) }).toEqual({ source, exists: true });
      expect({ source, isIgnored: isIgnored(source) }).toEqual({ source, isIgnored: false });
    }
  });

  test('holds every workspace that another one in it needs', () => {
    const read = (name: string) =>
      JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as { name: string; dependencies?: object };
    const names = workspaces.map((name) => read(name).name);
    const ours = packageJson.workspaces.map((name) => read(name).name);
    const needed = workspaces.flatMap((name) =>
      Object.keys(read(name).dependencies ?? {}).filter((one) => ours.includes(one)),
    );
    expect(names).toContain('@parley/server');
    expect(needed.filter((name) => !names.includes(name))).toEqual([]);
    for (const name of workspaces)
      expect(copied()).toContainEqual({ source: `${name}/package.json`, target: `${name}/package.json` });
  });

  test('gets no secret, no data, no local dependency and no test', () => {
    const secret = ['deploy/.env', '.env', 'server/.env', 'cli/.env.local', 'data/parley.sqlite', '.git/config'];
    const local = ['node_modules/bun/install.js', 'server/node_modules/x/index.js'];
    const tests = ['server/test/deploy/deploy.full.test.ts', 'cli/test/parley.ts'];
    for (const path of [...secret, ...local, ...tests]) {
      expect({ path, isIgnored: isIgnored(path) }).toEqual({ path, isIgnored: true });
    }
    expect(isIgnored('server/main.ts')).toBe(false);
  });

  test('runs as a user without rights, on a pinned base, and takes signals itself', () => {
    expect(text('FROM')).toEqual([expect.stringMatching(/^node:\d+\.\d+\.\d+-\w+-slim AS build$/), 'scratch']);
    expect(text('USER')).toEqual([expect.stringMatching(/^[1-9]\d+:[1-9]\d+$/)]);
    expect(text('CMD').map((one) => JSON.parse(one) as string[])).toEqual([['bun', 'server/main.ts']]);
    expect(text('ENTRYPOINT')).toEqual([]);
  });

  test('sets nothing but settings', () => {
    const env = Object.fromEntries(text('ENV').flatMap(assignments));
    expect(Object.keys(env).filter((name) => !settings.has(name) && !notOurs.test(name))).toEqual([]);
    expect(readSettings(env)).toMatchObject({ host: '0.0.0.0', port: 8080, folder: '/data' });
    expect(text('VOLUME')).toEqual(['/data']);
  });

  test('shows commands that work outside of the container', () => {
    const env = Object.fromEntries(text('ENV').flatMap(assignments));
    const run = Bun.spawnSync([process.execPath, join(root, 'cli/main.ts'), 'user', 'list', '--frobnicate'], { env });
    expect(run.stderr.toString()).toContain('See: docker exec parley bun cli/main.ts user list --help');
    expect(read('README.md')).toContain('docker exec parley bun cli/main.ts user list');
  });

  describe('laid out from its files alone', () => {
    let folder: string;
    let env: Record<string, string>;
    beforeAll(async () => {
      folder = await layOut();
      env = { HOST: '127.0.0.1', PORT: String(await freePort()), PARLEY_DATA: temporaryFolder(), LOG_LEVEL: 'off' };
    });

    test('has the licenses of its packages', () => {
      const found = [...new Bun.Glob('**/LICENSE*').scanSync(join(root, 'node_modules'))];
      const expected = found.filter((path) => existsSync(join(folder, 'node_modules', dirname(path))));
      expect(expected.length).toBeGreaterThan(30);
      expect(expected.filter((path) => path.endsWith('.md')).length).toBeGreaterThan(0);
      expect(expected.filter((path) => !existsSync(join(folder, 'node_modules', path)))).toEqual([]);
    });

    test('serves, is healthy, takes a file, and has the command line beside it', async () => {
      const bun = (...args: string[]) => [process.execPath, ...args];
      const child = Bun.spawn(bun('server/main.ts'), { cwd: folder, env, stdout: 'ignore', stderr: 'pipe' });
      endWithUs(child);
      const [, asked = ''] = /CMD (\[.*\])$/.exec(text('HEALTHCHECK')[0] ?? '') ?? [];
      const [, ...check] = JSON.parse(asked) as string[];
      const isHealthy = () => Bun.spawnSync(bun(...check), { cwd: folder, env, stderr: 'ignore' }).exitCode === 0;
      expect(isHealthy()).toBe(false);
      await eventually('it is healthy', async () => {
        if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text());
        return isHealthy() || undefined;
      });
      const cli = (...args: string[]) => {
        const run = Bun.spawnSync(bun('cli/main.ts', ...args, '--json'), { cwd: folder, env });
        if (!run.success) throw new Error(run.stderr.toString());
        return JSON.parse(run.stdout.toString()) as { user_id: number; access_token: string };
      };
      const { user_id } = cli('user', 'add', 'ada');
      const ada = new Client(`http://127.0.0.1:${env.PORT}`, cli('token', 'create', 'ada').access_token, user_id);
      expect((await ada.ok('users.me', {})).user.name).toBe('ada');
      expect((await append(ada, await announce(ada, 5), 0, 'hello')).status).toBe(204);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
    });
  });
});

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly restart?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: object;
}

/** The example as somebody fills it in who follows it: each value is made by the command above it. */
function filledIn(): Record<string, string> {
  const lines = read('example.env').split('\n');
  const env: Record<string, string> = {};
  for (const [i, line] of lines.entries()) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const [, command = 'false'] = /^# (openssl .*)$/.exec(lines[i - 1] ?? '') ?? [];
    const made = value ? undefined : Bun.spawnSync(['sh', '-c', command]);
    if (made && !made.success) throw new Error(`${name}: ${command}`);
    env[name] = made?.stdout.toString().trim() ?? value ?? '';
  }
  return env;
}

describe('the compose file', () => {
  const source = read('compose.yaml');
  const names = [...source.matchAll(/\$\{(\w+):\?\}/g)].map(([, name = '']) => name);
  const env = filledIn();
  const compose = Bun.YAML.parse(source.replace(/\$\{(\w+):\?\}/g, (_, name: string) => env[name] ?? '')) as Compose;
  const services = Object.entries(compose.services);
  const nodes = services.filter(([, { build }]) => build);

  test('takes what the example names, no more and no less, and refuses to start without it', () => {
    expect(new Set(names)).toEqual(new Set(Object.keys(env)));
    expect(source.replaceAll(/\$\{\w+:\?\}/g, '')).not.toContain('${');
    for (const value of Object.values(env)) expect(value).not.toBe('');
  });

  test('gives three equal nodes settings that they take', () => {
    expect(nodes.map(([name]) => name)).toEqual(['node1', 'node2', 'node3']);
    for (const [, node] of nodes) {
      expect(node).toEqual(nodes[0]?.[1] as Service);
      const given = node.environment ?? {};
      expect(Object.keys(given).filter((name) => !settings.has(name))).toEqual([]);
      const { databaseUrl, s3, publicUrl, trustProxy, secretKey } = readSettings(given);
      expect(new URL(databaseUrl ?? '').hostname).toBe('postgres');
      expect(s3).toMatchObject({ endpoint: 'http://s3:3900', bucket: 'parley', accessKeyId: 'parley-nodes' });
      expect(publicUrl?.href).toBe(`${env.PUBLIC_URL}/`);
      expect(trustProxy).toEqual({ kind: 'count', count: 1 });
      expect(secretKey).toBeDefined();
    }
  });

  test('has both sides of each secret agree', () => {
    const { postgres, nats, s3, proxy } = compose.services;
    const given = nodes[0]?.[1].environment ?? {};
    expect(new URL(given.DATABASE_URL ?? '').password).toBe(postgres?.environment?.POSTGRES_PASSWORD ?? 'none');
    expect(JSON.stringify(nats)).toContain(new URL(given.NATS_URL ?? '').password);
    const { bucket, accessKeyId, secretAccessKey } = readSettings(given).s3 ?? {};
    expect(s3?.environment).toMatchObject({
      GARAGE_DEFAULT_BUCKET: bucket ?? '',
      GARAGE_DEFAULT_ACCESS_KEY: accessKeyId ?? '',
      GARAGE_DEFAULT_SECRET_KEY: secretAccessKey ?? '',
    });
    expect(proxy?.environment?.PARLEY_NODES).toBe(nodes.map(([name]) => `${name}:8080`).join(' '));
  });

  test('pins every image that is not made here', () => {
    const loose = services.filter(([, { build, image }]) => !build && !/:v?\d+\.\d+\.?\d*[\w.-]*$/.test(image));
    expect(loose.map(([name]) => name)).toEqual([]);
  });

  test('opens no port but those of the proxy', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['proxy']);
  });

  test('asks everything for its health, starts it again, and waits for what it needs', () => {
    for (const [name, service] of services) {
      const isAsked = service.healthcheck?.test !== undefined || service.build !== undefined;
      expect({ name, isAsked, restart: service.restart }).toEqual({ name, isAsked: true, restart: 'unless-stopped' });
      for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect({ needed, exists: needed in compose.services, condition }).toEqual({
          needed,
          exists: true,
          condition: 'service_healthy',
        });
      }
    }
    // The stages of a stop take up to 27 s together.
    for (const [, node] of nodes) expect(Number.parseInt(node.stop_grace_period ?? '', 10)).toBeGreaterThan(27);
  });

  test('mounts what is there', () => {
    for (const [, { volumes = [], networks = [], build }] of services) {
      for (const volume of volumes) {
        const [what = ''] = volume.split(':');
        expect({
          what,
          exists: what.startsWith('.') ? existsSync(join(root, 'deploy', what)) : what in compose.volumes,
        }).toEqual({ what, exists: true });
      }
      for (const network of networks) expect(compose.networks).toHaveProperty(network);
      if (build) expect(existsSync(join(root, 'deploy', build.context, build.dockerfile))).toBe(true);
    }
  });
});

describe('the compose file for one server', () => {
  const source = read('compose.single.yaml');
  const folder = temporaryFolder();
  const init = Bun.spawnSync([process.execPath, join(root, 'cli/main.ts'), 'init', '--url', 'http://localhost'], {
    cwd: folder,
  });
  const env = parseEnv(readFileSync(join(folder, '.env'), 'utf8')) as Record<string, string>;
  const compose = Bun.YAML.parse(
    source.replace(/\$\{(\w+):(?:\?|-(\w+))\}/g, (_, name: string, otherwise = '') => env[name] ?? otherwise),
  ) as Compose;
  const { node, proxy } = compose.services;

  test('takes what parley init writes, and gives the server settings that it takes', () => {
    expect(init.exitCode).toBe(0);
    for (const [, name = ''] of source.matchAll(/\$\{(\w+):\?\}/g)) expect(env).toHaveProperty(name);
    const given = node?.environment ?? {};
    expect(Object.keys(given).filter((name) => !settings.has(name))).toEqual([]);
    const { databaseUrl, publicUrl, trustProxy, secretKey, backupEvery, backupFolder } = readSettings(given);
    expect({ databaseUrl, url: publicUrl?.href, trustProxy, backupEvery, backupFolder }).toEqual({
      databaseUrl: undefined,
      url: 'http://localhost/',
      trustProxy: { kind: 'count', count: 1 },
      backupEvery: 86_400_000,
      backupFolder: '/data/backups',
    });
    expect(secretKey).toBeDefined();
  });

  test('keeps the data in a volume, and opens no port but those of the proxy', () => {
    expect(node?.volumes).toEqual(['data:/data']);
    for (const volume of ['data', 'certificates', 'caddy']) expect(compose.volumes).toHaveProperty(volume);
    expect([node?.ports, proxy?.ports?.length]).toEqual([undefined, 3]);
    expect(proxy?.environment?.PARLEY_NODES).toBe('node:8080');
    expect(Number.parseInt(node?.stop_grace_period ?? '', 10)).toBeGreaterThan(27);
  });

  test('has the same proxy as the file for three', () => {
    const three = Bun.YAML.parse(read('compose.yaml')) as Compose;
    const { environment: _, depends_on: __, ...rest } = proxy ?? ({} as Service);
    const { environment: ___, depends_on: ____, ...same } = three.services.proxy ?? ({} as Service);
    expect(rest).toEqual(same);
  });

  test.skipIf(Bun.which('caddy') === null)('has a configuration of the proxy that Caddy accepts', () => {
    const run = Bun.spawnSync(
      ['caddy', 'validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy/Caddyfile')],
      {
        env: { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), ...proxy?.environment },
      },
    );
    expect({ code: run.exitCode, said: run.stderr.toString() }).toMatchObject({ code: 0 });
  });
});

describe.each(['parley.service', 'parley-executable.service'])('the systemd unit %s', (name) => {
  const unit = read(name);
  const analyze = Bun.which('systemd-analyze');
  if (analyze === null) noteSkipped('the systemd unit', notInstalled('systemd-analyze', 'systemd'));

  /** Runs systemd-analyze on the unit, with the paths of this checkout. */
  const run = (...args: string[]) => {
    const file = join(temporaryFolder(), 'parley.service');
    // systemd looks for the program.
    writeFileSync(file, unit.replaceAll('/opt/parley', root).replaceAll('/usr/local/bin/parley', process.execPath));
    const { exitCode, stdout, stderr } = Bun.spawnSync([analyze ?? '', ...args, file]);
    return { exitCode, said: `${stdout}${stderr}` };
  };

  test('sets nothing but settings', () => {
    const [, given = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const env = Object.fromEntries(assignments(given));
    expect(Object.keys(env).filter((name) => !settings.has(name) && !notOurs.test(name))).toEqual([]);
    expect(readSettings(env).folder).toBe('/var/lib/parley');
  });

  test('lets the server write backups to the folder of the guide', () => {
    const [, folder] = /^PARLEY_BACKUP_FOLDER=(.*)$/m.exec(readFileSync(join(root, 'docs/backup.md'), 'utf8')) ?? [];
    expect(unit).toContain(`\nReadWritePaths=-${folder}\n`);
  });

  test.skipIf(analyze === null)('is understood by systemd to the last line', () => {
    expect(run('verify', '--man=no')).toEqual({ exitCode: 0, said: '' });
  });

  test.skipIf(analyze === null)('leaves the process little to do harm with', () => {
    // From 0 to 100; what has no protection at all gets more than 90.
    const { exitCode, said } = run('security', '--offline=true', '--threshold=15');
    expect({ exitCode, said }).toEqual({ exitCode: 0, said });
  });
});

test('the two systemd units protect the machine in the same way', () => {
  const protection = (name: string) =>
    read(name)
      .replace(/^.*(?=\nUser=)/s, '')
      .replaceAll(/^(#|Work|Exec|Env).*\n/gm, '');
  expect(protection('parley-executable.service')).toBe(protection('parley.service'));
  expect(protection('parley.service')).toContain('SystemCallFilter');
});
