import { expect, test } from 'bun:test';
import { Stage } from './stage.ts';

test('a fault in the log of the server is told once, and not again of whatever comes next', async () => {
  const stage = await Stage.open('sqlite');
  try {
    const { owner } = await stage.people();
    await stage.check();
    const rename = (from: string, to: string) =>
      stage.server.engine.write((tx) => tx.run(`ALTER TABLE ${from} RENAME TO ${to}`));
    await rename('webhooks', 'elsewhere');
    expect((await owner.call('webhooks.list', {})).status).toBe(500);
    await rename('elsewhere', 'webhooks');
    await expect(stage.check()).rejects.toThrow('the server has logged a fault: {');
    await stage.check();
  } finally {
    await stage.close();
  }
});
