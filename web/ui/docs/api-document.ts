import type { Schema } from './schema.ts';

/** The part of OpenAPI that the server's document uses. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  };
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface DescribedOperation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** True if only pages in a browser may call it. */
  readonly 'x-in-browser'?: boolean;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly required?: boolean;
    readonly schema: Schema;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly description?: string; readonly content?: Readonly<Record<string, Content>> }
    >
  >;
}

export interface ApiError {
  readonly status: number;
  readonly code: string;
  readonly when: string;
}

/** An operation as the reference shows it. */
export interface Operation {
  /** `messages.send_message`. */
  readonly name: string;
  readonly resource: string;
  readonly action: string;
  readonly method: 'GET' | 'POST';
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Empty if any valid token will do. */
  readonly scopes: readonly string[];
  /** The fields of the input, as one object. */
  readonly input: Schema;
  readonly example: Readonly<Record<string, unknown>>;
  /** Headers that the request may have. */
  readonly headers: readonly { readonly name: string; readonly about: string }[];
  /** Only pages of the service may call it: a token is refused. */
  readonly isForPages: boolean;
  /** The field that takes a file, if a file is all that the operation is about. */
  readonly fileField: string | undefined;
  /** What the response is: an object, the bytes of a file, or a stream. */
  readonly returns: 'json' | 'file' | 'stream';
  readonly output: Schema | undefined;
  readonly outputExample: unknown;
  readonly errors: readonly ApiError[];
}

const lastPart = (reference: string): string => reference.split('/').at(-1) ?? '';

/** Returns the schema itself instead of a reference to it. */
export const resolve = (document: ApiDocument, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (document.components.schemas[lastPart(schema.$ref)] ?? {});

/** Returns all operations, in the order of the document. */
export const operationsOf = (document: ApiDocument): readonly Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, row]) => operationOf(document, path, method === 'get' ? 'GET' : 'POST', row)),
  );

function operationOf(
  document: ApiDocument,
  path: string,
  method: Operation['method'],
  row: DescribedOperation,
): Operation {
  const [, resource = '', action = ''] = path.split('/');
  const { parameters = [], requestBody } = row;
  const body = requestBody?.content['application/json'];
  const form = requestBody?.content['multipart/form-data'];
  const query = parameters.filter((one) => one.in === 'query');
  const input = resolve(document, body?.schema ?? form?.schema ?? objectOf(query));
  const success = row.responses['200']?.content ?? {};
  const json = success['application/json'];
  const isFile = ({ format }: Schema) => format === 'binary';
  return {
    name: `${resource}.${action}`,
    resource,
    action,
    method,
    summary: row.summary,
    description: row.description,
    scopes: row.security.find(({ oauth }) => oauth)?.oauth ?? [],
    input,
    example: {
      ...Object.fromEntries(query.filter((one) => 'example' in one).map(({ name, example }) => [name, example])),
      ...(body?.example as object | undefined),
    },
    headers: parameters
      .filter((one) => one.in === 'header')
      .map(({ name, description = '' }) => ({ name, about: description })),
    isForPages: row['x-in-browser'] === true,
    fileField: body ? undefined : Object.entries(input.properties ?? {}).find(([, field]) => isFile(field))?.[0],
    returns: json ? 'json' : 'text/event-stream' in success ? 'stream' : 'file',
    output: json?.schema && resolve(document, json.schema),
    outputExample: json?.example ?? success['text/event-stream']?.example,
    errors: errorsOf(document, row),
  };
}

/** The parameters of a query as the properties of one object. */
const objectOf = (query: NonNullable<DescribedOperation['parameters']>): Schema => ({
  type: 'object',
  properties: Object.fromEntries(
    query.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
  ),
  required: query.filter(({ required }) => required).map(({ name }) => name),
});

const codeInWords = /^`(\w+)`: (.*)$/;

/** A response names its codes in its description, one in each paragraph. */
const errorsOf = ({ components }: ApiDocument, { responses }: DescribedOperation): readonly ApiError[] =>
  Object.entries(responses).flatMap(([status, { $ref }]) => {
    const { description = '' } = ($ref && components.responses[lastPart($ref)]) || {};
    return description.split('\n\n').flatMap((paragraph) => {
      const [, code, when] = codeInWords.exec(paragraph) ?? [];
      return code === undefined || when === undefined ? [] : [{ status: Number(status), code, when }];
    });
  });

let loading: Promise<ApiDocument> | undefined;

/** Loads the document once, and after a failure again. */
export function loadDocument(): Promise<ApiDocument> {
  loading ??= fetch('/api/openapi.json')
    .then((response) => response.json() as Promise<ApiDocument>)
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}
