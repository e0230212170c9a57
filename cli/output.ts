import type { CommandContext, Environment, Output } from './context.ts';
import { type MissingField, refuseField, valuesAt } from './field.ts';
import { UsageError } from './usage-error.ts';

/** Writes lines to standard output: the result of a command. */
export async function print({ stdout }: Pick<CommandContext, 'stdout'>, ...lines: string[]): Promise<void> {
  if (lines.length > 0) await write(stdout, `${lines.join('\n')}\n`);
}

/** Writes a line to standard error. */
export async function hint({ stderr }: Pick<CommandContext, 'stderr'>, line: string): Promise<void> {
  await write(stderr, `${line}\n`);
}

/**
 * Prints the result of a command as one line of JSON, or what --field selects of it: texts as they are, and each element on its
 * own line. If there is no such field it prints everything and throws: the command has done its work, and a secret would be lost.
 */
export async function printJson(context: Pick<CommandContext, 'stdout' | 'field'>, value: unknown): Promise<void> {
  try {
    await print(context, ...selected(context, value, refuseField));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await print(context, jsonLine(value));
    throw new Error(`The command was run, and all of its JSON is printed. ${error.message}`);
  }
}

/** Returns the lines for one value of a stream. A value without the field has none, because others may have it. */
export const jsonLines = (context: Pick<CommandContext, 'field'>, value: unknown): string[] =>
  selected(context, value, () => {});

const selected = ({ field }: Pick<CommandContext, 'field'>, value: unknown, missing: MissingField): string[] =>
  field === undefined
    ? [jsonLine(value)]
    : valuesAt(value, field, missing).map((one) => (typeof one === 'string' ? oneLine(one) : jsonLine(one ?? null)));

/** Rejects if the write fails, such as on a full disk. A closed pipe, such as by `head`, is not a failure. */
export function write(stream: Output, text: string | Uint8Array): Promise<'read' | 'reader gone'> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error) resolve('read');
      else if (error.code === 'EPIPE') resolve('reader gone');
      else reject(error);
    });
  });
}

/** Returns the width of each column. It counts wide characters as two cells. */
export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, Bun.stringWidth(cell));
  }
  return widths;
}

/** Returns lines with aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = columnWidths(rows);
  return rows.map((row) =>
    row
      .map((cell, i) => pad(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export const pad = (cell: string, width: number) => cell + ' '.repeat(width - Bun.stringWidth(cell));

/**
 * Characters that could make a terminal do or show something other than the text: control characters (including the escape
 * sequences of ESC and U+009B), line separators, and marks that change the text direction. Right-to-left scripts do not need
 * these marks, and emoji keep their joiners.
 */
export const dangerous = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** Returns foreign text as one line that is safe to print. Dangerous characters are escaped. */
export const oneLine = (text: string): string => text.replace(dangerous, escaped);

/** Returns foreign text as lines that are safe to print. */
export const lines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => oneLine(line.replaceAll('\t', '    ')));

/** JSON.stringify leaves U+007F to U+009F unescaped. */
const escapedInJson = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns a value as one line of JSON. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(dangerous, escapedInJson);

/** Returns a value as indented JSON. */
export const indentedJson = (value: unknown): string[] =>
  JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(dangerous, escapedInJson));

/** Returns `2026-01-01 13:00` in the user's time zone. */
export const localTime = (iso: string, env: Environment): string => formatIn(env.TZ).format(new Date(iso));

/** Returns `2026-01-01 13:00:05` in the user's time zone. */
export const localSecond = (iso: string, env: Environment): string => `${localTime(iso, env)}${iso.slice(16, 19)}`;

/** Falls back to the zone of the process: `TZ` may name a zone that only the system knows. */
function formatIn(timeZone: string | undefined): Intl.DateTimeFormat {
  const format = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('sv', { ...format, ...(timeZone && { timeZone }) });
  } catch (error) {
    if (error instanceof RangeError) return new Intl.DateTimeFormat('sv', format);
    throw error;
  }
}
