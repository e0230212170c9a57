import { readFileSync } from 'node:fs';
import { listOperations } from '@parley/contract';
import { names } from '../../sdk/names.ts';
import { pages } from '../../sdk/pages.ts';
import { anchor, code, table } from './markdown.ts';

const marker = /(<!-- methods -->\n)[\s\S]*?(\n<!-- end of methods -->)/;

/** Returns the page of the SDK, which is written by hand, with the current table of methods. */
export function sdkPage(file: string): string {
  return readFileSync(file, 'utf8').replace(marker, (_, before: string, after: string) => {
    return `${before}\n${methodTable()}\n${after}`;
  });
}

function methodTable(): string {
  const summaries = new Map<string, string>(listOperations().map((row) => [row.name, row.summary]));
  const rows = Object.entries(names).flatMap(([resource, methods]) =>
    Object.entries<string>(methods).map(([method, operation]) => [
      code(`client.${resource}.${method}`),
      `[${operation}](api.md#${anchor(operation)})`,
      operation in pages ? '`all`' : '',
      summaries.get(operation) ?? '',
    ]),
  );
  return table(['Method', 'Operation', 'Iterator', 'Summary'], rows);
}
