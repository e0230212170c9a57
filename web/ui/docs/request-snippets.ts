import { names } from '@parley-chat/sdk/names.ts';
import type { Operation } from './api-document.ts';

/** A call of an operation, to be written as code. */
export interface ApiCall extends Pick<Operation, 'resource' | 'action' | 'method' | 'returns' | 'fileField'> {
  readonly input: Readonly<Record<string, unknown>>;
}

export const codeLanguages = ['curl', 'TypeScript', 'Python'] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

/** The names by which code is coloured. */
export const colouredAs: Readonly<Record<CodeLanguage, string>> = {
  curl: 'bash',
  TypeScript: 'typescript',
  Python: 'python',
};

const exampleFile = 'picture.png';

/** Returns a program that makes the call. `origin` is that of the server, and TOKEN an environment variable. */
export function codeOf(language: CodeLanguage, call: ApiCall, origin: string): string {
  return writers[language](call, origin);
}

/** Returns the path and query of a call, as a GET has them. */
export function pathOf({ resource, action, method, input }: ApiCall): string {
  const query = new URLSearchParams();
  if (method === 'GET') {
    for (const [name, value] of Object.entries(input)) for (const one of [value].flat()) query.append(name, `${one}`);
  }
  return `/api/${resource}/${action}${query.size === 0 ? '' : `?${query}`}`;
}

const writers: Readonly<Record<CodeLanguage, (call: ApiCall, origin: string) => string>> = {
  curl: (call, origin) => {
    const lines = [`curl ${inShell(`${origin}${pathOf(call)}`)}`, '-H "authorization: Bearer $TOKEN"'];
    if (call.fileField !== undefined) lines.push(`-F ${call.fileField}=@${exampleFile}`);
    else if (call.method === 'POST') {
      lines.push("-H 'content-type: application/json'", `-d ${inShell(JSON.stringify(call.input))}`);
    } else if (call.returns === 'stream') lines.push('--no-buffer');
    else if (call.returns === 'file') lines.push(`-o ${exampleFile}`);
    return lines.join(' \\\n  ');
  },

  TypeScript: (call, origin) => {
    const imports = ["import { createClient } from '@parley-chat/sdk';"];
    const method = `parley.${methodOf(call)}`;
    const input = Object.keys(call.input).length === 0 ? '' : scriptValue(call.input);
    const body: string[] = [];
    if (call.returns === 'stream') {
      body.push(`for await (const item of parley.events(${input})) {`, '  console.log(item.event, item.data);', '}');
    } else if (call.fileField !== undefined) {
      imports.push("import { openAsBlob } from 'node:fs';");
      body.push(
        `const ${call.fileField} = new File([await openAsBlob('${exampleFile}')], '${exampleFile}');`,
        `console.log(await ${method}({ ${call.fileField} }));`,
      );
    } else if (call.returns === 'file') {
      imports.push("import { writeFile } from 'node:fs/promises';");
      body.push(
        `const response = await ${method}(${input});`,
        `await writeFile('${exampleFile}', response.body ?? '');`,
      );
    } else body.push(`console.log(await ${method}(${input}));`);
    const client = `const parley = createClient({ url: ${scriptValue(origin)}, token: process.env.TOKEN ?? '' });`;
    return [...imports, '', client, ...body].join('\n');
  },

  Python: (call, origin) => {
    const modules = ['os', 'urllib.request'];
    const headers = [`"authorization": f"Bearer {os.environ['TOKEN']}"`];
    const parts: string[] = [];
    if (call.fileField !== undefined) {
      // The body is the file itself, and its name is in the query.
      parts.push(`data=open("${exampleFile}", "rb").read()`);
      headers.push('"content-type": "image/png"');
    } else if (call.method === 'POST') {
      modules.unshift('json');
      parts.push(`data=json.dumps(${pythonValue(call.input, '    ')}).encode()`);
      headers.push('"content-type": "application/json"');
    } else if (call.returns === 'json') modules.unshift('json');
    if (call.fileField !== undefined) modules.unshift('json');
    const path = call.fileField === undefined ? pathOf(call) : `${pathOf(call)}?name=${exampleFile}`;
    const results = {
      json: ['    print(json.load(response))'],
      stream: ['    for line in response:', '        print(line.decode(), end="")'],
      file: [`    open("${exampleFile}", "wb").write(response.read())`],
    };
    return [
      `import ${modules.join(', ')}`,
      '',
      'request = urllib.request.Request(',
      ...[JSON.stringify(`${origin}${path}`), ...parts, `headers={${headers.join(', ')}}`].map(
        (part) => `    ${part},`,
      ),
      ')',
      'with urllib.request.urlopen(request) as response:',
      ...results[call.returns],
    ].join('\n');
  },
};

/** Returns the method of the SDK, such as `messages.send`. */
function methodOf({ resource, action }: Pick<ApiCall, 'resource' | 'action'>): string {
  const operation = `${resource}.${action}`;
  for (const [group, methods] of Object.entries<Readonly<Record<string, string>>>(names)) {
    const method = Object.keys(methods).find((name) => methods[name] === operation);
    if (method !== undefined) return `${group}.${method}`;
  }
  return operation;
}

const inShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const isName = /^[A-Za-z_$][\w$]*$/;
/** Longer values have a line for each part. */
const maxLine = 60;

/** Returns a value as JavaScript. */
function scriptValue(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  return written(value, indent, scriptValue, (name) => (isName.test(name) ? name : `'${name}'`), '  ', ['{ ', ' }']);
}

const pythonNames: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** Returns a value as Python. */
function pythonValue(value: unknown, indent = ''): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const name = pythonNames[String(value)];
  return name ?? written(value, indent, pythonValue, (key) => JSON.stringify(key), '    ', ['{', '}']);
}

function written(
  value: unknown,
  indent: string,
  write: (value: unknown, indent: string) => string,
  writeKey: (name: string) => string,
  step: string,
  [open, close]: readonly [string, string],
): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((one) => write(one, indent + step))
    : Object.entries(value).map(([name, one]) => `${writeKey(name)}: ${write(one, indent + step)}`);
  const [start, end] = Array.isArray(value) ? ['[', ']'] : [open, close];
  if (parts.length === 0) return `${start.trim()}${end.trim()}`;
  const line = `${start}${parts.join(', ')}${end}`;
  if (line.length <= maxLine && !line.includes('\n')) return line;
  return `${start.trim()}\n${parts.map((part) => `${indent}${step}${part},\n`).join('')}${indent}${end.trim()}`;
}
