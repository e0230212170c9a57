/** Draws QR codes. It is a chunk of its own, loaded with the first one. */
import { encode } from 'uqr';

/** Returns the dark squares of a code as the path of an SVG, and the number of squares on each side. */
export function qrPath(text: string): { readonly path: string; readonly size: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  return { path: squares.join(''), size };
}
