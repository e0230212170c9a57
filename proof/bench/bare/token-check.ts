import { Authenticator, bearer } from '../../../server/auth/authenticate.ts';
import { readSettings } from '../../../server/config.ts';
import { openAsGuest } from '../../../server/store/engine/open.ts';
import { given, say } from '../../harness/helper.ts';

/**
 * Only checks tokens, as the server does for each request, on the same database and core, with the lookup that each token
 * needs every two seconds. Reports the processor time of one check, in µs.
 */
const { tokens, ms } = await given<{ tokens: readonly string[]; ms: number }>();
const engine = await openAsGuest(readSettings(process.env));
const authenticator = new Authenticator(engine, Date.now);
const requests = tokens.map(
  (token) => new Request('http://127.0.0.1/', { headers: { authorization: `Bearer ${token}` } }),
);

/** A busy server checks this many tokens between two waits. */
const batch = 64;

async function checkFor(ms: number): Promise<{ checks: number; micros: number }> {
  const before = process.cpuUsage();
  const end = performance.now() + ms;
  let checks = 0;
  while (performance.now() < end) {
    for (let i = 0; i < batch; i++) {
      const request = requests[checks % requests.length];
      const caller = authenticator.authenticate(
        { secret: bearer(request?.headers.get('authorization') ?? null), isSession: false },
        () => {},
      );
      if (caller instanceof Promise) await caller;
      checks++;
    }
    await Promise.resolve();
  }
  const { user, system } = process.cpuUsage(before);
  return { checks, micros: user + system };
}

await checkFor(ms / 8);
const { checks, micros } = await checkFor(ms);
say(micros / checks);
await engine.close();
