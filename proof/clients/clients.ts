import { rm } from 'node:fs/promises';
import {
  copyProgram,
  installNode,
  installPython,
  inWork,
  nodeTool,
  python,
  pythonTool,
  requireProgram,
  run,
  runOk,
} from './tools.ts';

/** The calls that a program makes with a generated client, by the names it prints. */
export const steps = {
  send: 'send a message',
  list: 'list chats',
  upload: 'upload a file',
  download: 'download it',
  webhook: 'register a webhook',
  error: 'read an error',
} as const;

export type Step = keyof typeof steps;
export const stepNames = Object.keys(steps) as Step[];

export interface GeneratedClient {
  readonly name: string;
  /** Generates the client from a document. Throws `Missing` if a tool is not installed. */
  generate(document: string): Promise<void>;
  /** Runs the program that uses it. Returns its output. */
  use(env: Readonly<Record<string, string>>): Promise<string>;
}

const empty = (folder: string) => rm(inWork(folder), { recursive: true, force: true });

const generator = async (language: string, folder: string, document: string, properties: string) => {
  await installPython();
  await empty(folder);
  const options = ['--input-spec', document, '--generator-name', language, '--output', inWork(folder)];
  await runOk([pythonTool('openapi-generator-cli'), 'generate', ...options, '--additional-properties', properties]);
};

/** The settings of a strict project of somebody else. */
const projectOf = (files: readonly string[]) => ({
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    types: [],
  },
  files,
});

export const clients: readonly GeneratedClient[] = [
  {
    name: 'openapi-typescript',
    async generate(document) {
      await installNode();
      await runOk([nodeTool('openapi-typescript'), document, '--output', inWork('node/schema.ts')]);
      await copyProgram('openapi-typescript.mts', 'node/program.mts');
      await Bun.write(
        inWork('node/globals.d.ts'),
        'declare const process: { env: Record<string, string | undefined> };\n',
      );
      await Bun.write(inWork('node/tsconfig.json'), JSON.stringify(projectOf(['program.mts', 'globals.d.ts'])));
      await runOk([nodeTool('tsc'), '--project', inWork('node')]);
    },
    use: (env) => runOk([process.execPath, 'program.mts'], { cwd: inWork('node'), env }),
  },
  {
    name: 'openapi-python-client',
    async generate(document) {
      await installPython();
      await empty('python-client');
      const output = inWork('python-client/parley_client');
      const options = ['--path', document, '--output-path', output, '--meta', 'none', '--fail-on-warning'];
      await runOk(['mkdir', '-p', inWork('python-client')]);
      // It formats its files with a program that is installed with it.
      const path = `${pythonTool('')}:${process.env.PATH}`;
      await runOk([pythonTool('openapi-python-client'), 'generate', ...options], { env: { PATH: path } });
      await copyProgram('openapi-python-client.py', 'python-client/program.py');
    },
    use: (env) => runOk([python, 'program.py'], { cwd: inWork('python-client'), env }),
  },
  {
    name: 'openapi-generator, Python',
    async generate(document) {
      await generator('python', 'generator-python', document, 'packageName=parley_client');
      await copyProgram('openapi-generator.py', 'generator-python/program.py');
    },
    use: (env) => runOk([python, 'program.py'], { cwd: inWork('generator-python'), env }),
  },
  {
    name: 'openapi-generator, Go',
    async generate(document) {
      requireProgram('go', 'golang-go');
      await generator('go', 'generator-go/client', document, 'packageName=parley');
      const go = (...args: string[]) => runOk(['go', ...args], { cwd: inWork('generator-go/client') });
      await go('mod', 'edit', '-module', 'parley.example/client');
      await runOk(['rm', '-rf', 'test'], { cwd: inWork('generator-go/client') });
      await runOk(['mkdir', '-p', inWork('generator-go/client/program')]);
      await copyProgram('openapi-generator.go', 'generator-go/client/program/main.go');
      await go('mod', 'tidy');
      await go('build', '-o', inWork('generator-go/run'), './program');
    },
    use: (env) => runOk([inWork('generator-go/run')], { env }),
  },
];

/** Returns the outcome of each step: 'ok', or the reason why not. */
export function outcomesIn(output: string): ReadonlyMap<string, string> {
  const lines = output.split('\n').map((line) => line.split('\t'));
  return new Map(lines.flatMap(([name = '', outcome]) => (outcome === undefined ? [] : [[name, outcome] as const])));
}

/** Returns the reason why a linter finds the document wrong, or undefined. */
export const linters: readonly { readonly name: string; lint(document: string): Promise<string | undefined> }[] = [
  {
    name: 'Redocly lint',
    lint: async (document) => failed(await run([nodeTool('redocly'), 'lint', document], { env: { CI: 'true' } })),
  },
  {
    name: 'Spectral lint',
    lint: async (document) => {
      await Bun.write(inWork('ruleset.yaml'), 'extends: ["spectral:oas"]\n');
      return failed(await run([nodeTool('spectral'), 'lint', '--ruleset', inWork('ruleset.yaml'), document]));
    },
  },
];

const failed = ({ code, output }: { code: number; output: string }) => (code === 0 ? undefined : output);
