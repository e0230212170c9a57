/** The bytes at the start of a file that its type is detected from. */
export const headBytes = 16_384;

/** Characters that no text contains. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const binary = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** Text formats with a type of their own. Any other text is plain. */
const texts = /^(?:text\/|application\/(?:json|xml|[\w.-]+\+(?:json|xml))$|image\/svg\+xml$)/;

/** Detects the type of a file from its first bytes. The name decides only between kinds of text (`typeNamed`). */
export async function typeOf(head: Uint8Array): Promise<{ type: string; extension: string }> {
  // Loaded with the first file, because the library takes 20 ms and 8 MB.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = isUtf16(head) ? undefined : await fileTypeFromBuffer(head);
  if (found && found.mime !== 'application/xml') return { type: found.mime, extension: found.ext };
  if (!isText(head)) return { type: 'application/octet-stream', extension: 'bin' };
  return { type: 'text/plain', extension: 'txt' };
}

/** Refines the type of a text by the file's name. */
export function typeNamed(type: string, name: string): string {
  if (!texts.test(type)) return type;
  const [named = ''] = Bun.file(name).type.split(';');
  return texts.test(named) ? named : 'text/plain';
}

/** The byte order mark of UTF-16. The library takes it for audio. */
const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** The last character of the head may be incomplete. */
function isText(head: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: head.length === headBytes });
    return !binary.test(text);
  } catch {
    return false;
  }
}
