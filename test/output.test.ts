import { describe, expect, test } from 'bun:test';
import { Output } from './output.ts';

/** Returns the output for these lines of the runner. Each line takes `stepMs`. */
function shown(lines: readonly string[], { columns, stepMs = 0 }: { columns?: number; stepMs?: number } = {}) {
  let text = '';
  let now = 0;
  const screen = {
    write: (more: string) => {
      text += more;
    },
    columns: () => columns,
    hasColours: false,
    now: () => now,
  };
  const output = new Output(screen, 3);
  for (const line of lines) {
    now += stepMs;
    output.line(line);
  }
  output.end();
  return { text, failures: output.failures };
}

const passing = ['bun test v1.4.4 (38afee6c8) 2x PARALLEL', '', 'a.test.ts:', '(pass) one', '(pass) two [3.10ms]'];
const ending = ['', ' 2 pass', ' 0 fail', 'Ran 2 tests across 1 file. [0.10s]'];

describe('what is shown of a run', () => {
  test('is nothing where all goes well', () => {
    const named = ['(pass) takes {', '  format: 2,', '} [3.15ms]', '(pass) takes "', '" [0.36ms]', '(skip) {', '}'];
    expect(shown([...passing, '(skip) three', ...named, '(todo) four', ...ending])).toEqual({ text: '', failures: [] });
  });

  test('is each failure in full, once, under the name of its file', () => {
    const error = ['error: expect(received).toBe(expected)', '', '      at a.test.ts:3:173'];
    const recap = ['', '2 tests failed:', '(fail) group > bad [0.86ms]', '(fail) hangs'];
    const hang = ['(fail) hangs [500.00ms]', '  ^ this test timed out after 500ms.'];
    const lines = ['', 'b.test.ts:', ...error, '(fail) group > bad [0.86ms]', '(pass) good', ...hang];
    const { text, failures } = shown([...passing, ...lines, '', 'c.test.ts:', '(pass) c', ...recap, ...ending]);
    const full = [...error, '(fail) group > bad [0.86ms]', ...hang];
    expect(text).toBe(`\nb.test.ts:\n${full.join('\n')}\n`);
    expect(failures).toEqual([
      { file: 'b.test.ts', test: 'group > bad' },
      { file: 'b.test.ts', test: 'hangs' },
    ]);
  });

  test('is what tests print', () => {
    expect(shown(['a.test.ts:', 'here I am', '(pass) one', ...ending]).text).toBe('\na.test.ts:\nhere I am\n');
  });

  test('is a file that broke, which counts as a failure', () => {
    const { text, failures } = shown([
      'd.test.ts:',
      '',
      '# Unhandled error between tests',
      "error: Cannot find module './missing.ts'",
      '',
      'f.test.ts:',
      '✗ f.test.ts (worker crashed: exit code 7)',
      ...ending,
    ]);
    expect(text).toContain("Cannot find module './missing.ts'");
    expect(text).toContain('✗ f.test.ts (worker crashed: exit code 7)');
    expect(failures).toEqual([
      { file: 'd.test.ts', test: '(outside of its tests)' },
      { file: 'f.test.ts', test: '(worker crashed: exit code 7)' },
    ]);
  });
});

describe('how far a run is', () => {
  test('stands in the last line of a terminal, which goes away when there is something to show', () => {
    const { text } = shown(['a.test.ts:', '(pass) one', 'oh', '(fail) two'], { columns: 60, stepMs: 1_000 });
    expect(text).toBe(
      '0:01  file 1 of 3  0 passed, 0 failed  a.test.ts' +
        '\r\x1b[2K0:02  file 1 of 3  1 passed, 0 failed  a.test.ts' +
        '\r\x1b[2K0:03  file 1 of 3  1 passed, 0 failed  a.test.ts' +
        '\r\x1b[2K\na.test.ts:\noh\n(fail) two\n' +
        '0:04  file 1 of 3  1 passed, 1 failed  a.test.ts' +
        '\r\x1b[2K',
    );
    for (const line of shown(passing, { columns: 20, stepMs: 1_000 }).text.split('\r\x1b[2K')) {
      expect(line.length).toBeLessThan(20);
    }
  });

  test('is a line every half minute elsewhere', () => {
    const { text } = shown(['a.test.ts:', ...Array(8).fill('(pass) one')], { stepMs: 10_000 });
    expect(text).toBe(
      '0:30  file 1 of 3  2 passed, 0 failed\n1:00  file 1 of 3  5 passed, 0 failed\n1:30  file 1 of 3  8 passed, 0 failed\n',
    );
  });
});
