import { describe, test } from 'bun:test';
import { appendFileSync } from 'node:fs';

/** Names a missing program and how to install it. Undefined if it is installed. */
export type Missing = string | undefined;

export const notInstalled = (name: string, packages = name): string =>
  `${name} is not installed: apt-get install ${packages}`;

/** With CI set a missing program fails the run. Elsewhere its suites are skipped, and the run lists them at its end. */
export function require(isFound: boolean, name: string, packages: string): Missing {
  if (isFound) return undefined;
  const missing = notInstalled(name, packages);
  if (process.env.CI) throw new Error(missing);
  return missing;
}

/** Returns the file of a program that Debian installs outside of the PATH of ordinary users. */
export const findServer = (program: string): string | undefined =>
  Bun.which(program, { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/bin` }) ?? undefined;

export const requireProgram = (program: string): Missing => require(Bun.which(program) !== null, program, program);

/** Returns the first that is missing. */
export const requirePrograms = (...programs: readonly string[]): Missing =>
  programs.map(requireProgram).find((missing) => missing !== undefined);

/** Suites of an optional program are skipped even with CI set. */
export const optionalProgram = (program: string): Missing =>
  Bun.which(program) === null ? notInstalled(program) : undefined;

/** Describes behaviour that needs more than Node.js, or skips it and says why. */
export function describeUnless(missing: Missing, name: string, suite: () => void): void {
  if (missing === undefined) return void describe(name, suite);
  noteSkipped(name, missing);
  describe.skip(name, suite);
}

/** The same for a single test. */
export function testUnless(missing: Missing, name: string, work: () => Promise<void>, timeoutMs?: number): void {
  if (missing === undefined) return void test(name, work, timeoutMs);
  noteSkipped(name, missing);
  test.skip(name, work);
}

/** The test run passes a file that collects what was skipped; its summary shows it. */
export function noteSkipped(name: string, why: string): void {
  const file = process.env.PARLEY_TEST_SKIPPED;
  if (file) appendFileSync(file, `${JSON.stringify({ name, why })}\n`);
  else console.warn(`skipped: ${name}. ${why}`);
}
