import fc from 'fast-check';

import type { Drawn } from '../subject.ts';

/** Damage to stored bytes, at a place that is a share of their length. */
export const damages = fc.record({
  what: fc.constantFrom('flip', 'cut', 'end', 'insert', 'zero'),
  place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
});

/** Returns a damaged copy. */
export function hurt(whole: Uint8Array, { what, place, bytes }: Drawn<typeof damages>): Buffer {
  const at = Math.floor(place * whole.length);
  const before = whole.subarray(0, at);
  if (what === 'cut') return Buffer.concat([before, whole.subarray(at + bytes.length)]);
  if (what === 'end') return Buffer.from(before);
  if (what === 'insert') return Buffer.concat([before, bytes, whole.subarray(at)]);
  const copy = Buffer.from(whole);
  if (what === 'zero') return copy.fill(0, at, Math.min(at + bytes.length, whole.length));
  copy[at] = (copy[at] ?? 0) ^ (1 << ((bytes[0] ?? 0) % 8));
  return copy;
}
