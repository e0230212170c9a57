import { join } from 'node:path';
import { embedded } from '../lib/embedded.ts';
import { runtimeCommand } from '../lib/runtime-command.ts';

/** A file of the client. Its name changes with its content. */
export interface ClientFile {
  readonly type: string;
  /** Whether the client needs it without a connection too. */
  readonly isOffline: boolean;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

export interface ClientBundle {
  /** By file name. */
  readonly files: ReadonlyMap<string, ClientFile>;
  /** The names of the files that the page loads. */
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  /** The source of the service worker. */
  readonly worker: string;
  /** The source of a script that deletes what the client keeps in the browser. */
  readonly forget: string;
}

interface BuiltFile {
  readonly name: string;
  readonly type: string;
  readonly isEntry: boolean;
  readonly isOffline: boolean;
  readonly body: string;
}

const buildFile = join(import.meta.dir, '../../web/build.ts');

let building: Promise<ClientBundle> | undefined;

/**
 * Returns a function that builds the client on its first call, and after a failure again. The build runs in a process of its
 * own: it takes 0.1 s either way, and would leave this process 60 MB larger. An executable has the built client inside.
 */
export const clientBundle = (): (() => Promise<ClientBundle>) => () => {
  building ??= build().catch((error: unknown) => {
    building = undefined;
    throw error;
  });
  return building;
};

async function build(): Promise<ClientBundle> {
  const output = embedded ? await Bun.file(embedded.clientFile).text() : await runBuild();
  const { files: built, ...sources } = JSON.parse(output) as Pick<ClientBundle, 'worker' | 'forget'> & {
    readonly files: readonly BuiltFile[];
  };
  const entries = built.filter(({ isEntry }) => isEntry).map(({ name }) => name);
  return {
    files: new Map(built.map((file) => [file.name, fileOf(file)])),
    scripts: entries.filter((name) => name.endsWith('.js')),
    styles: entries.filter((name) => name.endsWith('.css')),
    ...sources,
  };
}

/** Returns what `web/build.ts` prints. */
async function runBuild(): Promise<string> {
  const child = Bun.spawn(runtimeCommand(buildFile), { stdout: 'pipe', stderr: 'pipe' });
  const [output, complaint, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`the web client could not be built: ${complaint}`);
  return output;
}

function fileOf({ type, isOffline, body }: BuiltFile): ClientFile {
  const bytes = Uint8Array.from(Buffer.from(body, 'base64'));
  return { type, isOffline, bytes, gzipped: Bun.gzipSync(bytes, { level: 9 }) };
}
