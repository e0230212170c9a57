import { test } from 'bun:test';
import { freshEnvironment } from './support/engines.ts';
import { startServer } from './support/server.ts';
test('x', async () => {
  for (let i = 0; i < 12; i++) {
    const server = await startServer(await freshEnvironment('sqlite'));
    const ada = await server.user('ada');
    const size = i % 3 === 0 ? 0 : i % 3 === 1 ? 1_048_577 : 5_000_000;
    const r = await fetch(`${server.url}/api/messages.php?action=send_message`, { method: 'POST', body: 'x'.repeat(size), headers: { authorization: `Bearer ${ada.token}` } });
    const t = await r.text();
    const t0 = performance.now();
    await server.stop();
    console.log(size, r.status, t.length, 'stop ms', Math.round(performance.now() - t0));
  }
}, 120000);
