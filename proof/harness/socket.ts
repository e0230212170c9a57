import type { Socket } from 'bun';

/** Writes as much as the socket takes, and removes it from `unsent`. Call it again when the socket drains. */
export function flush(socket: Socket<unknown>, unsent: Uint8Array[]): number {
  let written = 0;
  for (let part = unsent[0]; part; part = unsent[0]) {
    const sent = Math.max(0, socket.write(part));
    written += sent;
    if (sent < part.length) {
      unsent[0] = part.subarray(sent);
      break;
    }
    unsent.shift();
  }
  return written;
}
