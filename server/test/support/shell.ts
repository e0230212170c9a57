import { quietPort } from './quiet-port.ts';

const separator = '=== next block ===';

/** Returns the shell blocks of a page, in order. */
export const shellBlocks = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);

/** Returns the part of a page under the heading that begins so. */
export const sectionOf = (markdown: string, heading: string): string =>
  markdown.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';

/** Returns a function that makes the commands of the tour use other ports: that of a server, and a free one for the receiver. */
export async function portsOf(url: string): Promise<(script: string) => string> {
  const receiving = await quietPort();
  return (script) =>
    script
      .replaceAll(':8080', `:${new URL(url).port}`)
      .replaceAll(':3000', `:${receiving}`)
      .replaceAll('--port 3000', `--port ${receiving}`);
}

export interface ShellRun {
  /** The output of each block. */
  readonly outputs: string[];
  readonly complaints: string;
}

/** Runs blocks in one shell. A command that fails throws an error with all output. */
export async function runBlocks(
  blocks: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  adapt: (script: string) => string = (script) => script,
): Promise<ShellRun> {
  const script = adapt(blocks.join(`\necho '${separator}'\n`));
  const shell = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], { ...options, stdout: 'pipe', stderr: 'pipe' });
  const [printed, complaints, status] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
    shell.exited,
  ]);
  if (status !== 0) throw new Error(`a command ended with ${status}:\n${printed}\n${complaints}`);
  return { outputs: printed.split(separator), complaints };
}
