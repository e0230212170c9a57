import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import axe from 'axe-core';
import { log, scene } from './scene.ts';
import { becomes, until } from './support.ts';

const source = 'export async function add(x: number): Promise<string> {\n  return String(x + 1); // why\n}';
const samples = [
  ['ts', source],
  ['python', 'def f(x):\n    """text"""\n    return None if x > 3 else {"a": 1}'],
  ['html', '<!-- aside --><p class="a">&amp;</p>'],
  ['diff', '- old\n+ new'],
  ['yaml', 'name: value\nlist:\n  - 1'],
  ['sql', "SELECT count(*) FROM users WHERE name = 'ada'"],
] as const;

inChromium('code in messages', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('is coloured by a part that is loaded when it is needed, and keeps its place and its text', async () => {
    const ada = stage.person('ada');
    const { group } = await ada.ok('messages.create_group', { name: 'Code' });
    const say = (content: string) => ada.ok('messages.send_message', { chat_id: group.chat_id, content });
    await say('```\nno language\n```');
    await say('```nonsense\nan unknown one\n```');
    const page = await stage.open('ada', '/', { bypassCSP: true });
    const scripts: string[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) scripts.push(response.url());
    });
    await page.goto(`${stage.url()}/chats/${group.chat_id}`);
    await log(page).getByText('no language').waitFor();
    await becomes(() => log(page).locator('pre span').count(), 0);

    for (const [language, code] of samples) await say(`\`\`\`${language}\n${code}\n\`\`\``);
    const blocks = log(page).locator('pre > code');
    await until('all are coloured', async () => {
      const coloured = await blocks.evaluateAll((all) => all.filter((block) => block.querySelector('span')).length);
      return coloured === samples.length;
    });
    expect(scripts.length).toBeGreaterThan(1);
    await becomes(() => blocks.nth(2).textContent(), `${source}\n`);
    await becomes(() => blocks.nth(2).locator('.hljs-comment').textContent(), '// why');
    const heights = await blocks.evaluateAll((all) =>
      all.map((block) => {
        const before = block.clientHeight;
        block.replaceChildren(block.textContent ?? '');
        return [before, block.clientHeight];
      }),
    );
    for (const [coloured, plain] of heights) expect(coloured).toBe(plain as number);

    await page.reload();
    await until('they are coloured again', async () => (await log(page).locator('pre span').count()) > 0);
    await page.addScriptTag({ content: axe.source });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
      expect(violations.map(({ id, nodes }) => `${id} ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
    }
  });
});
