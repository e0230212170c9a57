/** Reads CSV as RFC 4180 has it: records of fields, which may be quoted. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  pattern.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (!found) throw new Error(`no CSV after ${rows.length} lines`);
    const [, quoted, plain = '', end] = found;
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}
