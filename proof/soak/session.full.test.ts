import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '../../server/test/support/cleanup.ts';
import { type EngineName, onPostgres } from '../../server/test/support/engines.ts';
import { eventually } from '../../server/test/support/eventually.ts';

/** A soak as somebody starts it in a terminal, in a group of processes of its own; its load has begun. */
async function begin(engine: EngineName) {
  const json = join(temporaryFolder(), 'figures.json');
  const args = ['--database', engine, '--minutes', '5', '--rate', '50', '--json', json];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), ...args], {
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  endWithUs(child);
  let out = '';
  const complaint = new Response(child.stderr).text();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const part of child.stdout) out += decoder.decode(part, { stream: true });
  })();
  await eventually('the load begins', async () => out.includes('The load begins.') || undefined);
  const [session] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .map(Number);
  if (session === undefined) throw new Error('the soak has no session of its own');
  const said = async () => {
    await reading;
    return { out, complaint: await complaint };
  };
  return { child, session, json, said };
}

/** The processes of a session, by their ids. */
function inSession(session: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => sessionOf(pid) === session);
}

function sessionOf(pid: number): number | undefined {
  try {
    const [state, , , session] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(session);
  } catch {
    // It has ended since it was listed.
    return undefined;
  }
}

const untilGone = (session: number) =>
  eventually('nothing is left of the soak', async () => inSession(session).length === 0 || undefined);

/** Has a terminal say to everything in it that it is over: when somebody presses Ctrl-C, or the terminal goes away. */
async function hearsSignal(engine: EngineName, signal: NodeJS.Signals): Promise<void> {
  const { child, session, json, said } = await begin(engine);
  // Until it has ended, its id is the id of its group and of nothing else.
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  process.kill(-child.pid, signal);
  const code = await child.exited;
  const { out, complaint } = await said();
  expect({ code, complaint }).toEqual({ code: 0, complaint: '' });
  expect(out).toEndWith('Nothing is broken; but nothing is proven about growth.\n');
  const { broken, counts, deliveries } = await Bun.file(json).json();
  expect(broken).toEqual([]);
  expect(counts.found).toBeGreaterThan(0);
  expect(deliveries.good.delivered).toBeGreaterThan(0);
  await untilGone(session);
}

const onLinux = test.concurrent.skipIf(process.platform !== 'linux');

describe('a soak in a terminal', () => {
  onLinux('judges what there is when the terminal goes away', () => hearsSignal('sqlite', 'SIGHUP'));

  onLinux('leaves nothing behind when it is killed', async () => {
    const { child, session } = await begin('sqlite');
    expect(inSession(session).length).toBeGreaterThan(1);
    child.kill('SIGKILL');
    await untilGone(session);
  });
});

onPostgres('a soak in a terminal', () => {
  onLinux('judges what there is, and ends its database, upon Ctrl-C', () => hearsSignal('postgres', 'SIGINT'));
});
