import type { CommandContext } from './context.ts';

/** Black on white: some cameras do not read the reverse, which a dark terminal would show. */
const [begin, end] = ['\x1b[30;107m', '\x1b[0m'];

/** Returns a QR code, or undefined if standard error is no terminal with colours. */
export async function qrCode(text: string, { stderr, env }: Pick<CommandContext, 'stderr' | 'env'>) {
  if (!stderr.isTTY || env.NO_COLOR || env.TERM === 'dumb') return undefined;
  // Loaded on demand: only this command draws one.
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { ecc: 'L', border: 2 });
  const isDark = (x: number, y: number) => data[y]?.[x] ?? false;
  // Each character is two squares high.
  const lines = Array.from({ length: Math.ceil(size / 2) }, (_, row) =>
    Array.from({ length: size }, (_, x) => half(isDark(x, row * 2), isDark(x, row * 2 + 1))).join(''),
  );
  return lines.map((line) => `${begin}${line}${end}`).join('\n');
}

const half = (upper: boolean, lower: boolean): string => (upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ');
