import { describe, expect, test } from 'bun:test';
import { basename } from 'node:path';
import fc from 'fast-check';
import { safeName } from '../download/safe-name.ts';

describe('the name that somebody gave a file', () => {
  test.each(['report.pdf', 'דוח 报告.bin', '👨‍👩‍👧.png', 'a b (1).txt', 'no-ending', '-rf', 'x..y'])(
    'stays as it is: %s',
    (name) => {
      expect(safeName(name, 'other')).toBe(name);
    },
  );

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Users\\x\\evil.exe', 'evil.exe'],
    ['.profile', '_profile'],
    ['..hidden', '_.hidden'],
    [' .profile ', '_profile'],
    ['a\0b\nc\u001b[2J.txt', 'a_b_c_[2J.txt'],
    ['gpj.\u202eexe', 'gpj._exe'],
    ['\ud800x', '\ufffdx'],
    ['', 'other'],
    ['.', 'other'],
    ['..', 'other'],
    ['...', 'other'],
    ['x/', 'other'],
    [' ', 'other'],
  ])('is made safe: %p', (name, safe) => {
    expect(safeName(name, 'other')).toBe(safe);
  });

  test('is always the name of a file in the folder, and short enough for its .part', () => {
    const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('/', '\\', '.', '\0', '\n', '你', '\u202e'));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (name) => {
        const safe = safeName(name, 'other');
        expect(basename(safe)).toBe(safe);
        expect(safe).toMatch(/^[^./\\\p{Cc}\u2028-\u202e\u2066-\u2069][^/\\\p{Cc}\u2028-\u202e\u2066-\u2069]*$/u);
        expect(Buffer.byteLength(`${safe}.part`)).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('keeps its ending when it is cut', () => {
    expect(safeName(`${'报'.repeat(200)}.tar.gz`, 'other')).toBe(`${'报'.repeat(82)}.gz`);
  });
});
