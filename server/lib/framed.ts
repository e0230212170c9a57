/** A frame is not wider than this. */
const maxWidth = 100;

/**
 * Returns lines between two rules, indented by a space, for a terminal of this width. A longer line stays whole, with nothing
 * after it, so that a link in it can be selected.
 */
export function framed(lines: readonly string[], columns: number): string[] {
  const longest = Math.max(...lines.map((line) => line.length)) + 2;
  const rule = '─'.repeat(Math.min(longest, columns, maxWidth));
  return [rule, ...lines.map((line) => (line === '' ? '' : ` ${line}`)), rule];
}
