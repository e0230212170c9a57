import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { spawnServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { failed, parley, parleyIn, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';

describe('logs', () => {
  test('finds a request of a running server in its log', async () => {
    const log = join(temporaryFolder(), 'log');
    const running = await spawnServer({ ...(await freshEnvironment('sqlite')), LOG_LEVEL: 'info' }, log);
    const response = await fetch(`${running.url}/api/users/me`);
    const id = response.headers.get('x-request-id') ?? '';
    const found = await eventually('the line is written', async () => {
      const outcome = await parley(['logs', id, log]);
      return outcome.code === 0 && outcome.stdout;
    });
    expect(found).toMatch(/^time +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nlevel +info\nevent +request\n/);
    expect(found).toMatch(/^status +401\n/m);
    expect(found).toMatch(/^code +unauthorized$/m);
    await running.kill('SIGTERM');
  });

  const id = '3f2a90c1d4e5-1z';
  const entry = {
    time: '2026-01-01T12:00:05.000Z',
    level: 'error',
    event: 'request',
    request_id: id,
    status: 500,
    cause: { name: 'Error', message: 'disk\u001b[31m full', stack: 'Error: disk full\n    at write (x.ts:1)' },
  };
  const line = JSON.stringify(entry);

  test('shows the cause of an error, also after what a log collector writes before it', async () => {
    const other = line.replace(id, `${id}z`);
    const shown = await said(['logs', id], { TZ: 'Asia/Tokyo' }, `${other}\nnode1  | ${line}\n`);
    expect(shown.split('\n')).toEqual([
      'time        2026-01-01 21:00:05',
      'level       error',
      'event       request',
      `request_id  ${id}`,
      'status      500',
      `cause       disk${String.raw`\u{1b}`}[31m full`,
      'stack       Error: disk full',
      '                at write (x.ts:1)',
    ]);
    expect(JSON.parse(await said(['logs', id, '--json'], {}, line))).toEqual(entry);
  });

  test('shows a line of a text log as it is', async () => {
    const text = `2026-01-01T12:00:05.000Z info  request request_id=${id} status=200`;
    expect(await said(['logs', id], {}, `x\n${text}\n`)).toBe(text);
  });

  test('fails in one line if there is no such request, file or input', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'empty'), '');
    expect(await parley(['logs', id], {}, line.replace(id, `${id}z`))).toEqual(
      failed(1, `The log has no request ${id}.`),
    );
    expect(await parleyIn(folder, ['logs', id, 'empty'], {})).toEqual(failed(1, `The log has no request ${id}.`));
    expect(await parleyIn(folder, ['logs', id, 'none'], {})).toEqual(failed(1, 'There is no file none.'));
    expect(await parley(['logs', '7'])).toEqual(failed(2, '<request_id> must be the request_id of a response'));
    const terminal = await new RunningCommand(['logs', id], { isTerminal: true }).end();
    expect(terminal).toEqual(failed(2, "Give the file of the server's log, or pipe the log in."));
  });
});
