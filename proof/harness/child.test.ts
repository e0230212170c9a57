import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import { Child } from './child.ts';

/** Runs a script in a process. */
function run(script: string, input?: unknown): Child {
  const file = join(temporaryFolder(), 'script.ts');
  writeFileSync(file, script);
  return new Child(file, input === undefined ? {} : { input });
}

test('a process gets its input as JSON, and its lines are returned in order', async () => {
  await using child = run('const { n } = await Bun.stdin.json(); console.log(n + 1); console.log("[2]")', { n: 1 });
  expect(await child.line<number>()).toBe(2);
  expect(await child.line<number[]>()).toEqual([2]);
});

test('a process that ends without a line fails with what it wrote to its error output', async () => {
  await using child = run('console.error("no luck"); process.exit(3)');
  await expect(child.line()).rejects.toThrow(/script\.ts ended with 3: no luck/);
  expect(child.state).toBe('ended');
  expect(() => child.check()).toThrow('no luck');
});

test('text of the error output can be waited for', async () => {
  await using child = run('console.error("listening on http://x "); setInterval(() => {}, 1_000)');
  expect(await child.said(/listening on (http:\S+)\s/)).toBe('http://x');
  expect(child.state).toBe('running');
  await child.kill();
  expect(child.state).toBe('killed');
  expect(await child.said(/never (said)/)).toBeUndefined();
});

test('a process that ends on SIGTERM has stopped in order, and another one is killed', async () => {
  const polite = run('process.on("SIGTERM", () => process.exit(0)); console.log(1); setInterval(() => {}, 1_000)');
  await polite.line();
  expect(await polite.stop()).toBeTrue();
  const stubborn = run('process.on("SIGTERM", () => {}); console.log(1); setInterval(() => {}, 1_000)');
  await stubborn.line();
  expect(await stubborn.stop(100)).toBeFalse();
});
