import { describe, expect, test } from 'bun:test';
import { defineCommand, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { cursor, list, moment, positive, text } from '../values.ts';

/** For commands that use nothing of their process. */
const nowhere = {} as CommandContext;

/** Returns the values that a command gets for the typed words, or its usage error. */
async function given(...words: string[]): Promise<unknown> {
  let got: unknown = 'nothing';
  const command = defineCommand({
    arguments: {
      id: { summary: '', read: positive },
      text: { summary: '', read: text, rest: true },
    },
    options: {
      loud: { summary: '' },
      after: { value: 'id', summary: '', read: cursor },
      tags: { value: 'a,b', summary: '', read: list },
    },
    run: async (args, options) => {
      got = { ...args, ...options };
    },
  });
  try {
    return (await command.execute(words, nowhere)) === 'help' ? 'help' : got;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

const nothing = { loud: false, after: undefined, tags: undefined };

/** The same of a command whose last argument may be left out. */
async function givenOptional(...words: string[]): Promise<unknown> {
  let got: unknown;
  const command = defineCommand({
    arguments: { id: { summary: '', read: positive }, path: { summary: '', read: text, optional: true } },
    options: {},
    run: async (args) => {
      got = args;
    },
  });
  await command.execute(words, nowhere);
  return got;
}

describe('the words after a command', () => {
  test('become values of their kinds', async () => {
    expect(await given('7')).toEqual({ id: 7, text: [], ...nothing });
    expect(await given('7', 'a', '--loud', 'b c', '--after=0', '--tags', 'x, y')).toEqual({
      id: 7,
      text: ['a', 'b c'],
      loud: true,
      after: 0,
      tags: ['x', 'y'],
    });
  });

  test('may begin with a dash after --, and a dash alone is a word', async () => {
    expect(await given('7', '-', '--', '--loud', '-5')).toEqual({ id: 7, text: ['-', '--loud', '-5'], ...nothing });
  });

  test('may lack the last where it is not needed, and no other', async () => {
    expect(await givenOptional('7')).toEqual({ id: 7, path: undefined });
    expect(await givenOptional('7', 'x')).toEqual({ id: 7, path: 'x' });
    await expect(givenOptional()).rejects.toThrow('<id> is missing.');
    await expect(givenOptional('7', 'x', 'y')).rejects.toThrow('Unexpected argument "y".');
  });

  test('ask for help before anything is wrong with them', async () => {
    expect(await given('--help')).toBe('help');
    expect(await given('x', '-h')).toBe('help');
  });

  test.each([
    [[], '<id> is missing.'],
    [['x'], '<id> must be a whole number from 1, not "x".'],
    [['0'], '<id> must be a whole number from 1, not "0".'],
    [['1e3'], '<id> must be a whole number from 1, not "1e3".'],
    [['99999999999999999999'], '<id> must be a whole number from 1, not "99999999999999999999".'],
    [['1', '--tags', 'a,,b'], '--tags must be a list such as a,b, not "a,,b".'],
    [['1', '--after'], "Option '--after <value>' argument missing."],
    [['1', '--after', '--loud'], "Option '--after' argument is ambiguous."],
    [['1', '--loud=yes'], "Option '--loud' does not take an argument."],
    [['1', '--luod'], "Unknown option '--luod'. Did you mean --loud?"],
    [['1', '-5'], "Unknown option '-5'. Put -- before words that begin with a dash."],
  ])('are refused if they make no sense: %p', async (words, line) => {
    expect(await given(...words)).toBe(line);
  });
});

describe('a moment', () => {
  test.each([
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00+02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 12:00:05.25Z', '2026-01-31T12:00:05.250Z'],
    ['2026-01-31T12:00', new Date(2026, 0, 31, 12).toISOString()],
    ['2026-01-31 12:00:05', new Date(2026, 0, 31, 12, 0, 5).toISOString()],
    ['2026-01-31', new Date(2026, 0, 31).toISOString()],
  ])('is a time: %s', (typed, expected) => {
    expect(moment(typed)).toBe(expected);
  });

  test.each([
    ['0s', 0],
    ['15m', 900],
    ['2h', 7_200],
    ['7d', 604_800],
  ])('is an age: %s', (typed, seconds) => {
    expect(Math.abs(Date.now() - seconds * 1_000 - Date.parse(moment(typed)))).toBeLessThan(1_000);
  });

  test.each(['', 'now', '15', '1w', '-1h', '2026', '2026-02-30', '2026-13-01', '2026-01-31T25:00', '999999999d'])(
    'is refused: %p',
    (typed) => {
      expect(() => moment(typed)).toThrow('an age such as 30s');
    },
  );
});
