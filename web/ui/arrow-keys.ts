/** Returns the place that an arrow key leads to in a list, from its end to its start too. Undefined for other keys. */
export function placeAfter(key: string, at: number, count: number): number | undefined {
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  return step === 0 || count === 0 ? undefined : (at + step + count) % count;
}
