import type { UploadSource } from '@parley-chat/sdk/tus.ts';
import type { LocalFile } from './local-file.ts';

/**
 * The maximum size of one request. Large requests are better for the server: a file of 1 GiB took its memory to 134 MB in
 * pieces of 16 MiB, 109 MB in pieces of 64 MiB and 92 MB in one piece. But proxies often refuse more than 100 MB.
 */
const pieceBytes = 64 * 1_024 ** 2;

/** Streams a file from disk. `sent` is called with the bytes from the start that are sent, also before they arrive. */
export function streamedSource(
  file: LocalFile,
  sent: (bytes: number) => void,
): UploadSource & { readonly fault: unknown } {
  const source = {
    size: file.size,
    pieceBytes,
    /** Why the file could not be read. `fetch` reports another error. */
    fault: undefined as unknown,
    piece: (start: number, end: number) => ({
      body: read(start, end) as unknown as BodyInit,
      headers: { 'content-length': String(end - start) },
    }),
  };
  async function* read(start: number, end: number) {
    let at = start;
    try {
      for await (const bytes of file.bytes(start, end)) {
        yield bytes;
        at += bytes.length;
        sent(at);
      }
    } catch (error) {
      source.fault = error;
      throw error;
    }
  }
  return source;
}
