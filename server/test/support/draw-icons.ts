/** Draws the icons of the installed client from parley.svg: `bun server/test/support/draw-icons.ts`. */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { executable } from './chromium.ts';

const pages = join(import.meta.dir, '../../pages');
const svg = await Bun.file(join(pages, 'parley.svg')).text();
/** Systems cut these into a shape of their own, so the ground fills all of it. */
const filled = svg.replace('rx="8" ', '');

const icons = [
  { name: 'plain-192', svg, side: 192 },
  { name: 'plain-512', svg, side: 512 },
  { name: 'maskable-512', svg: filled, side: 512 },
  { name: 'apple-180', svg: filled, side: 180 },
] as const;

const browser = await chromium.launch({ executablePath: executable ?? '', args: ['--no-sandbox'] });
for (const { name, svg, side } of icons) {
  const page = await browser.newPage({ viewport: { width: side, height: side } });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
  await page.screenshot({ path: join(pages, 'icons', `${name}.png`), omitBackground: true });
  await page.close();
}
await browser.close();
