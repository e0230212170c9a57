import { join } from 'node:path';
import { readFigures } from './figures.ts';
import { plots } from './plots.ts';
import { parts } from './tables.ts';

const docs = join(import.meta.dir, '../..');
const marker = /(<!-- figures: ([\w-]+) -->\n)[\s\S]*?(\n<!-- end of figures -->)/g;

/** Returns the page with the text between its markers replaced. */
async function fillPage(file: string, parts: Readonly<Record<string, string>>): Promise<string> {
  const text = await Bun.file(file).text();
  return text.replace(marker, (_, before: string, name: string, after: string) => {
    const filling = parts[name];
    if (filling === undefined) throw new Error(`${file} has a marker for ${name}, but no such part exists`);
    return `${before}\n${filling}\n${after}`;
  });
}

/** Returns every file that is generated from the results, by path. */
export async function performanceFiles(): Promise<Readonly<Record<string, string>>> {
  const figures = await readFigures();
  const page = join(docs, 'performance.md');
  const filled = Object.entries(parts).map(([name, make]) => [name, make(figures)]);
  const drawn = Object.entries(plots(figures)).map(([name, svg]) => [join(docs, 'performance', name), svg]);
  return { [page]: await fillPage(page, Object.fromEntries(filled)), ...Object.fromEntries(drawn) };
}
