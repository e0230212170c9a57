/** Returns a time in words. */
export function inWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds >= 90) return `${minutes} minutes`;
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
