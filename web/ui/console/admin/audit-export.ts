import type { AuditEntry } from '@parley-chat/sdk/operations.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import { type AuditPage, type Names, namesOf, sentenceOf, textOf } from './audit-entry.ts';

const words = adminText.audit;

export type ExportFormat = 'csv' | 'json';

/** Spreadsheets run a cell that begins with one of these as a formula. Some of them also begin a cell after a semicolon or a tab. */
const formula = /(^|[;\t])(?=[=+\-@\t\r])/g;

/** Returns a cell of CSV: RFC 4180, and never a formula. */
export function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(formula, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const csvOf = (entry: AuditEntry, names: Names): string =>
  csvLine([
    entry.at,
    entry.act,
    textOf(sentenceOf(entry, names)),
    entry.user_id,
    entry.user_id === null ? null : (names.users.get(entry.user_id) ?? null),
    entry.app_id,
    entry.app_id === null ? null : (names.apps.get(entry.app_id) ?? null),
    entry.address,
    JSON.stringify(entry.details),
  ]);

const jsonOf = (entry: AuditEntry, names: Names): string =>
  JSON.stringify({ ...entry, sentence: textOf(sentenceOf(entry, names)) });

/** Makes a file of pages of the log. `write` gets its text piece by piece. */
export class AuditWriter {
  readonly #format: ExportFormat;
  readonly #write: (text: string) => void;
  #count = 0;

  constructor(format: ExportFormat, write: (text: string) => void) {
    this.#format = format;
    this.#write = write;
    // The mark of UTF-8 at the start: without it spreadsheets take it for another encoding.
    write(format === 'csv' ? `\uFEFF${csvLine(words.csv)}` : '[\n');
  }

  get count(): number {
    return this.#count;
  }

  add(page: AuditPage): void {
    const names = namesOf(page);
    const lines = page.entries.map((entry, i) => {
      if (this.#format === 'csv') return csvOf(entry, names);
      return `${this.#count + i === 0 ? '' : ',\n'}${jsonOf(entry, names)}`;
    });
    this.#count += page.entries.length;
    this.#write(lines.join(''));
  }

  end(): void {
    if (this.#format === 'json') this.#write('\n]\n');
  }
}

/** Gives a file to the browser, which saves it. */
export function saveFile(name: string, parts: readonly string[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
