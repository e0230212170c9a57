import fc from 'fast-check';

/** What happens to bytes that are kept for years: at a place of theirs, as a share of their length. */
export interface Damage {
  readonly what: 'flip' | 'cut' | 'end' | 'insert' | 'zero';
  readonly place: number;
  readonly bytes: Uint8Array;
}

export const damages: fc.Arbitrary<Damage> = fc.record({
  what: fc.constantFrom('flip', 'cut', 'end', 'insert', 'zero'),
  place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
});

/** The bytes as they are afterwards. What was given stays as it was. */
export function hurt(whole: Uint8Array, { what, place, bytes }: Damage): Buffer {
  const at = Math.floor(place * whole.length);
  const before = whole.subarray(0, at);
  const count = bytes.length;
  switch (what) {
    case 'flip': {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << ((bytes[0] ?? 0) % 8));
      return flipped;
    }
    case 'cut':
      return Buffer.concat([before, whole.subarray(at + count)]);
    case 'end':
      return Buffer.from(before);
    case 'insert':
      return Buffer.concat([before, bytes, whole.subarray(at)]);
    case 'zero':
      return Buffer.from(whole).fill(0, at, Math.min(at + count, whole.length));
  }
}
