import { join } from 'node:path';
import { readFigures } from './figures.ts';
import { plots } from './plots.ts';
import { parts } from './tables.ts';

const docs = join(import.meta.dir, '../..');
const place = /(<!-- figures: ([\w-]+) -->\n)[\s\S]*?(\n<!-- end of figures -->)/g;

/** The prose as it stands, with the figures in their places. */
async function fillPage(file: string, given: Readonly<Record<string, string>>): Promise<string> {
  const text = await Bun.file(file).text();
  return text.replace(place, (_, before: string, name: string, after: string) => {
    const filling = given[name];
    if (filling === undefined) throw new Error(`${file} has a place for ${name}, of which there are no figures`);
    return `${before}\n${filling}\n${after}`;
  });
}

/** Every file that comes from the figures, by path. */
export async function performanceFiles(): Promise<Readonly<Record<string, string>>> {
  const figures = await readFigures();
  const page = join(docs, 'performance.md');
  const given = Object.entries(parts).map(([name, make]) => [name, make(figures)]);
  const drawn = Object.entries(plots(figures)).map(([name, svg]) => [join(docs, 'performance', name), svg]);
  return { [page]: await fillPage(page, Object.fromEntries(given)), ...Object.fromEntries(drawn) };
}
