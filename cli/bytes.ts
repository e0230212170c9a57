const units = ['KiB', 'MiB', 'GiB', 'TiB'];

/** `812 bytes`, `12.3 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${Math.round(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  let [value, unit] = [bytes / 1_024, 0];
  // What would be shown as 1024.0 is one of the next.
  while (value >= 1_023.95 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
