import { expect, test } from 'bun:test';
import { browserInWords, cleanUserAgent } from '../../domain/user-agent.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Windows'],
  ['Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0', 'Firefox on Android'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/128.0 Mobile/15E148 Safari/605.1.15',
    'Firefox on iPhone',
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/126.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/126.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/126.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/126.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [
    'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1',
    'Chrome on iPad',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    'Edge on Windows',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/126.0.0.0 Safari/537.36 OPR/112.0.0.0`,
    'Opera on macOS',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${webkit} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  ['Mozilla/5.0 (Haiku; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox'],
  ['curl/8.5.0', 'Unknown browser'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'Unknown browser'],
  ['<b>Firefox</b>', 'Unknown browser'],
  [null, 'Unknown browser'],
])('%s is shown as %s', (userAgent, words) => {
  expect(browserInWords(userAgent)).toBe(words);
});

test('a header is stored as printable ASCII of limited length', () => {
  expect(cleanUserAgent('Firefox/128.0')).toBe('Firefox/128.0');
  expect(cleanUserAgent('  a\u0000b\tc\u001b[31m  d é\u202e ')).toBe('a b c [31m d');
  expect(cleanUserAgent('x'.repeat(10_000))).toBe('x'.repeat(300));
  for (const nothing of [null, undefined, '', '   ', '\u00e9']) expect(cleanUserAgent(nothing)).toBeNull();
});
