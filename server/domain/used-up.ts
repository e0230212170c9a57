/**
 * Gives the memory of bytes back at once that nobody looks at any more. The collector would leave it for later: a large file
 * came in at 150 MB of memory with it, and at 80 so.
 */
export function usedUp(bytes: Uint8Array): void {
  const { buffer } = bytes;
  // Neither a part of something larger, nor given back before.
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && !buffer.detached;
  if (isWhole) buffer.transfer(0);
}
