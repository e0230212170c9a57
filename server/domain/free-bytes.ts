/**
 * Frees the memory of bytes that are no longer needed, without waiting for the garbage collector. A large upload took 150 MB
 * of memory without this and takes 80 MB with it.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  // A part of a larger buffer cannot be freed alone.
  const isFreeable = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && !buffer.detached;
  if (isFreeable) buffer.transfer(0);
}
