import { ParleyError } from '@parley/contract';

/** The headers of a part. */
export interface PartHead {
  readonly name: string;
  /** Set for a file. Empty if the field was left empty in a browser. */
  readonly filename: string | undefined;
}

export const brokenForm = (fault: string, cause?: unknown) =>
  new ParleyError('invalid_request', `The body is not valid multipart/form-data: ${fault}.`, [], cause);

/** Parses the headers of a part. Throws if they name no field: the part would get lost silently. */
export function readPartHead(bytes: Uint8Array): PartHead {
  const lines = decode(bytes)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  if (lines.some((line) => /[\r\n]/.test(line))) throw brokenForm('a header contains a line break');
  const [, disposition] =
    lines.map((line) => /^content-disposition\s*:\s*form-data\s*(;.*)$/is.exec(line)).find(Boolean) ?? [];
  const given = parametersIn(disposition ?? '');
  const name = given.get('name');
  if (name === undefined) throw brokenForm('a part is not form-data, or has no name');
  const extended = given.get('filename*');
  return { name, filename: extended === undefined ? given.get('filename') : decodeExtended(extended) };
}

const parameter = /\s*;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*/y;

function parametersIn(text: string): Map<string, string> {
  const given = new Map<string, string>();
  for (parameter.lastIndex = 0; parameter.lastIndex < text.length; ) {
    const found = parameter.exec(text);
    if (!found) throw brokenForm('a Content-Disposition cannot be read');
    const [, name = '', quoted, word = ''] = found;
    given.set(name.toLowerCase(), quoted === undefined ? word : unquote(quoted));
  }
  return given;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw brokenForm('the headers of a part are not UTF-8', error);
  }
}

/** Browsers write a quote as %22 and a line break as %0D%0A; others put a backslash before a quote. */
const unquote = (quoted: string): string =>
  quoted.replace(/\\(["\\])/g, '$1').replace(/%(?:22|0d|0a)/gi, (escaped) => decodeURIComponent(escaped));

/** Decodes `UTF-8''na%C3%AFve`, which some clients send although forms do not need it. */
function decodeExtended(value: string): string {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch (error) {
    throw brokenForm('a filename* is not percent-encoded UTF-8', error);
  }
  throw brokenForm('a filename* is not UTF-8');
}
