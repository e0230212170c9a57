const units = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Returns `812 bytes` or `12.3 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${Math.round(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  let [value, unit] = [bytes / 1_024, 0];
  // Avoids 1024.0 of a unit.
  while (value >= 1_023.95 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
