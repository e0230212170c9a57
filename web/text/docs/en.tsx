/** @jsxImportSource preact */
import { countsIn } from '../shared/counts.ts';
import { en as places } from '../shared/places/en.ts';

const { number, decimal } = countsIn('en');

const units = { elements: ' elements', characters: ' characters', bytes: ' bytes of UTF-8', number: '' } as const;

interface Range {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly unit: keyof typeof units;
}

/** All texts of the API reference, in English. The rules are those of `../en.tsx`. */
export const en = {
  language: 'en',

  navigation: {
    label: 'Documentation',
    chats: 'Back to chats',
    console: places.console,
    home: places.docs,
    guides: 'Guides',
    tables: 'Reference',
  },
  lost: 'Reconnecting… What you see may be old.',
  failed: 'The description of the API could not be loaded.',

  search: {
    label: 'Search the documentation',
    placeholder: 'Search',
    key: '/',
    results: 'Results',
    none: (query: string) => `Nothing matches “${query}”.`,
    guide: (title: string) => `Guide: ${title}`,
  },

  home: {
    title: places.docs,
    about:
      'Every operation with its fields, its errors and an example with your own ids. You can try each one here: a token for 5 minutes is made for it.',
    base: 'Base URL',
    description: 'Description',
    token: 'Token',
    tokenHint: 'Every request has the header “Authorization: Bearer” with an access token.',
    manageTokens: 'Create a token',
    openApi: 'OpenAPI 3.1',
  },

  missing: 'There is no such page',
  missingHint: 'Look for it with the search, or among all operations.',

  guide: {
    /** Markdown. */
    commands:
      'How you type `parley` depends on the installation: `./parley` is the executable, `npx @parley-chat/cli` the package, and `docker exec parley bun cli/main.ts` the container. `npx parley` is right only in a checkout.',
  },

  operation: {
    scopes: 'Scopes',
    anyToken: 'any valid token',
    input: 'Input',
    noInput: 'It takes no input.',
    required: 'required',
    fallback: (value: string) => `default ${value}`,
    headers: 'Headers',
    output: 'Response',
    outputFile: 'The bytes of a file, with its own content type.',
    outputStream: 'Server-sent events, until one side closes the connection.',
    optional: 'optional',
    fieldsOf: (type: string) => `Fields of ${type}`,
    outputExample: 'Example of a response',
    errors: 'Errors',
    status: 'Status',
    code: 'Code',
    meaning: 'Meaning',
    example: 'Request',
    language: 'Language',
    copy: (language: string) => `Copy the request as ${language}`,
    /** What the example was filled in with. */
    chat: ({ id, name }: { id: number; name: string }) => (
      <>
        Chat {id} is <bdi>{name}</bdi>.
      </>
    ),
    you: (id: number) => `User ${id} is you.`,
    tokenVariable: 'TOKEN is an environment variable with an access token.',
  },

  schema: {
    or: ' or ',
    anything: 'anything',
    time: 'time',
    file: 'file',
    listOf: (type: string) => `list of ${type}`,
    each: (about: string) => `each: ${about}`,
    range: ({ min, max, unit }: Range): string => {
      if (min !== undefined && max !== undefined) return `${number(min)} to ${number(max)}${units[unit]}`;
      if (min !== undefined) return `at least ${number(min)}${units[unit]}`;
      return max === undefined ? '' : `at most ${number(max)}${units[unit]}`;
    },
  },

  tryIt: {
    title: 'Try it',
    about: 'This makes the call for real, as you. It creates a token for 5 minutes and revokes it afterwards.',
    notHere: {
      page: 'Only pages of this service may call it, so it is not tried here: a token is refused.',
      webhook:
        'What it makes ends with the token that called it, so it is not tried here: use the console or the settings.',
      upload: 'Uploads are not tried here. Use the curl command above.',
      stream: 'Streams are not tried here. Use the curl command above, and leave it running.',
    },
    input: 'Input as JSON',
    reset: 'Reset',
    send: 'Send',
    sending: 'Sending…',
    broken: (problem: string) => `This is not a JSON object: ${problem}`,
    notObject: 'it must begin with {',
    tokenName: (operation: string) => `Try ${operation}`,
    noToken: 'No token could be created.',
    refusals: {
      forbidden: 'A token for administration needs a password that you entered in the last 10 minutes.',
      insufficient_scope: 'Only administrators may call this operation.',
    },
    enterPassword: 'Enter your password',
    failed: 'The server did not respond.',
    result: 'Result',
    status: ({ status, ms }: { status: number; ms: number }) =>
      `${status} in ${ms < 1_000 ? `${number(ms)} ms` : `${decimal(ms / 1_000)} s`}`,
    revoked: 'The token is revoked.',
    notRevoked: 'The token could not be revoked. It expires by itself within 5 minutes.',
    bytes: ({ bytes, type }: { bytes: number; type: string }) => `${number(bytes)} bytes of ${type}`,
    copy: 'Copy the response',
    headers: 'Headers of the response',
    confirm: (operation: string) => `Call ${operation}?`,
    confirmHint: 'It acts on real data, as you:',
    confirmAct: 'Call it',
  },
};
