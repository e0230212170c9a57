const units = [
  { from: 2 * 86_400, length: 86_400, name: 'days' },
  { from: 2 * 3_600, length: 3_600, name: 'h' },
  { from: 120, length: 60, name: 'min' },
] as const;

/** Returns `45 s`, `12 min`, `3 h` or `5 days`. */
export function ageText(seconds: number): string {
  const unit = units.find(({ from }) => seconds >= from);
  return unit ? `${Math.floor(seconds / unit.length)} ${unit.name}` : `${Math.round(seconds)} s`;
}
