import { expect, test } from 'bun:test';
import { eventually } from '@parley/server/test/support/eventually.ts';
import { quietPort } from '@parley/server/test/support/quiet-port.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { sceneOn } from './scene.ts';

const server = serverFor('sqlite');
const secret = 'a-long-random-value';

test('webhooks receive verifies deliveries, refuses others, and stops after some', async () => {
  const scene = await sceneOn(server());
  const port = String(await quietPort());
  const url = `http://127.0.0.1:${port}/hook`;
  await using receiver = new RunningCommand(
    ['webhooks', 'receive', '--port', port, '--secret', secret, '--count', '1', '--field', 'data.content'],
    { env: scene.env },
  );
  await eventually('it listens', async () => receiver.stderr.includes('Waiting for webhooks') || undefined);
  const forged = await fetch(url, { method: 'POST', body: '{"event":"new_message"}' });
  expect({ status: forged.status, said: await forged.text() }).toEqual({
    status: 401,
    said: 'The delivery is not signed.\n',
  });
  await said(['webhooks', 'create', url, '--secret', secret], scene.env);
  await scene.send('for the hook');
  expect(await receiver.end()).toMatchObject({ code: 0, stdout: 'for the hook\n' });
  expect(receiver.stderr).toContain('Rejected: The delivery is not signed.');
});

test('webhooks receive refuses a field that no event has, before it listens', async () => {
  const selecting = (field: string) => parley(['webhooks', 'receive', '--secret', secret, '--field', field]);
  const noField = (name: string, meant: string) => failed(2, `There is no field "${name}". Did you mean ${meant}?`);
  expect(await selecting('dta.content')).toEqual(noField('dta', 'data'));
  expect(await selecting('data.contnt')).toEqual(noField('contnt', 'content'));
  expect(await selecting('data.files.nme')).toEqual(noField('nme', 'name'));
});

test('webhooks receive needs a secret', async () => {
  expect(await parley(['webhooks', 'receive'])).toEqual(failed(2, '--secret is missing.'));
});
