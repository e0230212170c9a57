import { pick, type Random } from './random.ts';

/** Bytes that are easily mangled on their way. */
const words = [
  'plain',
  'Grüße',
  '"quoted"',
  'a\\b',
  'line\nbreak',
  '日本語',
  '👩‍👩‍👧',
  '</script>',
  '\u2028',
  'e\u0301',
] as const;

export const text = (random: Random): string =>
  Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(random, words)).join(' ');
