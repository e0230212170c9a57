import { existsSync, mkdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';

/** Tools and generated clients. They stay there, so that the next run starts sooner. */
export const workFolder = join(import.meta.dir, '../../node_modules/.cache/parley-clients');

const own = (file: string) => join(import.meta.dir, file);
export const inWork = (...parts: string[]) => join(workFolder, ...parts);

export const python = inWork('python/bin/python');
export const pythonTool = (name: string) => inWork('python/bin', name);
export const nodeTool = (name: string) => inWork('node/node_modules/.bin', name);

export interface Ran {
  readonly code: number;
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. Its output is that of both streams. */
export async function run(command: readonly string[], { cwd = workFolder, env = {} }: RunOptions = {}): Promise<Ran> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
  return { code: await child.exited, output: `${stdout}${stderr}` };
}

/** Runs a program that must succeed, and returns its output. */
export async function runOk(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, output } = await run(command, options);
  if (code === 0) return output;
  throw new Error(`${command.slice(0, 3).join(' ')} exited with ${code}: ${output.trim().slice(-2_000)}`);
}

/** Why a tool cannot be used. */
export class Missing extends Error {}

export function requireProgram(name: string, debianPackage: string): void {
  if (Bun.which(name) === null) throw new Missing(`${name} is not installed (Debian: ${debianPackage})`);
}

/** Installs the packages of `list` once, until the list changes. */
async function installOnce(folder: string, list: string, install: () => Promise<unknown>): Promise<void> {
  const wanted = await Bun.file(own(list)).text();
  const stamp = Bun.file(inWork(folder, 'installed.txt'));
  if ((await stamp.exists()) && (await stamp.text()) === wanted) return;
  mkdirSync(inWork(folder), { recursive: true });
  try {
    await install();
  } catch (error) {
    throw new Missing(`the packages of ${list} cannot be installed: ${(error as Error).message}`);
  }
  await Bun.write(stamp, wanted);
}

let pythonTools: Promise<void> | undefined;
let nodeTools: Promise<void> | undefined;

/** Installs the Python generators and Schemathesis. Throws `Missing` if that is not possible. */
export function installPython(): Promise<void> {
  pythonTools ??= installOnce('python', 'requirements.txt', async () => {
    requireProgram('python3', 'python3-venv');
    if (!existsSync(python)) await runOk(['python3', '-m', 'venv', inWork('python')]);
    await runOk([python, '-m', 'pip', 'install', '--quiet', '--requirement', own('requirements.txt')]);
  });
  return pythonTools;
}

/** Installs openapi-typescript and the linters. Throws `Missing` if that is not possible. */
export function installNode(): Promise<void> {
  nodeTools ??= installOnce('node', 'packages.json', async () => {
    requireProgram('npm', 'npm');
    await cp(own('packages.json'), inWork('node/package.json'));
    await runOk(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: inWork('node') });
  });
  return nodeTools;
}

/** Copies one of our programs next to a generated client. */
export const copyProgram = (name: string, to: string): Promise<void> => cp(own(`programs/${name}`), inWork(to));
