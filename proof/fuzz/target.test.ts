import { expect, test } from 'bun:test';
import { Target } from './target.ts';

test('a fault in the log of the server is told once, and not again of whatever comes next', async () => {
  const target = await Target.open('sqlite');
  try {
    const { owner } = await target.people();
    await target.check();
    const rename = (from: string, to: string) =>
      target.server.engine.write((tx) => tx.run(`ALTER TABLE ${from} RENAME TO ${to}`));
    await rename('webhooks', 'elsewhere');
    expect((await owner.call('webhooks.list', {})).status).toBe(500);
    await rename('elsewhere', 'webhooks');
    await expect(target.check()).rejects.toThrow('the server has logged a fault: {');
    await target.check();
  } finally {
    await target.close();
  }
});
