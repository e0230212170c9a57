/** The browser of a session, by its User-Agent header. */

/** The names that matter are in the first 200 characters. The rest is what other programs add. */
const maxLength = 300;

/** Returns the header as it is stored: printable ASCII of limited length, or null if there is none. */
export const cleanUserAgent = (header: string | null | undefined): string | null =>
  (header ?? '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .slice(0, maxLength)
    .trim() || null;

/** The first match counts: most browsers also claim to be Chrome or Safari, and phones to be Linux or a Mac. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPiOS|OPT|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const match = (table: typeof browsers, userAgent: string): string | undefined =>
  table.find(([pattern]) => pattern.test(userAgent))?.[1];

/** Returns the browser and its system in words, such as "Firefox on Windows". */
export function browserInWords(userAgent: string | null): string {
  const browser = match(browsers, userAgent ?? '');
  const system = match(systems, userAgent ?? '');
  if (browser === undefined) return 'Unknown browser';
  return system === undefined ? browser : `${browser} on ${system}`;
}
