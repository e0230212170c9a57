import { afterEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { addSample } from '@parley/server/store/observe/samples.ts';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, phone, say, violationsOn } from './acts.ts';
import { parseCsv } from './csv.ts';
import { scene } from './scene.ts';
import { becomes, until } from './support.ts';

const pages = ['overview', 'people', 'storage', 'chats', 'audit', 'service'] as const;

inChromium('administration in the console', () => {
  // No folder can be made there, so the first backup fails.
  const stage = scene({ env: { PARLEY_BACKUP_EVERY: '1h', PARLEY_BACKUP_FOLDER: '/dev/null/backups' } });
  afterEach(() => stage.expectNoFaults());

  const row = (page: Page, name: RegExp) => page.getByRole('row', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** Two hours of metrics, with a minute that failed. */
  const addHistory = () =>
    stage.server().engine.write(async (tx) => {
      const now = Math.floor(Date.now() / 60_000);
      for (let minute = now - 120; minute < now - 1; minute++) {
        const counts = { messages: 2, requests: 30, server_errors: minute === now - 60 ? 3 : 0, streams: 4 };
        const hooks = { first_attempts: 1, first_attempt_lag_ms: 12, backlog: 0 };
        await addSample(tx, { minute, ...counts, ...hooks, people_online: 3, disk_free: 60e9, disk_total: 100e9 });
      }
    });

  test('shows the last day as charts with numbers, to administrators alone', async () => {
    await addHistory();
    const page = await stage.open('ada', '/console', desk);
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Overview' }).click();
    const chart = (name: RegExp) => page.getByRole('img', { name });
    await chart(/^Messages in the last 24 hours: \d+, in total, at most 10 in 5 min\.$/).waitFor();
    await chart(/^Server errors in the last 24 hours: 3, /).waitFor();
    await chart(/^Disk .* free, /).waitFor();
    await page.getByText('The server failed 3 times.').waitFor();
    await page.getByText('The last scheduled backup failed. Look for background_job_failed in the log').waitFor();
    await page.getByText('No backup is known.').waitFor();
    const line = await chart(/^Open streams/)
      .locator('.line')
      .getAttribute('d');
    expect(line).toMatch(/^M[\d. L]{100,}/);

    // A pointer shows the value at a time.
    await chart(/^Webhook lag/).hover();
    await page
      .getByRole('article')
      .filter({ hasText: 'Webhook lag' })
      .getByText(/: 12 ms$/)
      .waitFor();
    await button(page, 'Show the numbers').click();
    const numbers = page.getByRole('table', { name: 'Metrics by hour' });
    await numbers.getByRole('row', { name: /12 ms/ }).first().waitFor();
    await page.getByRole('link', { name: '1 hour' }).click();
    await chart(/^Messages in the last 1 hour: \d+, in total, at most \d+ in 1 min\.$/).waitFor();
    expect(new URL(page.url()).search).toBe('?hours=1');
    await page.goBack();
    await chart(/^Messages in the last 24 hours/).waitFor();

    const other = await stage.open('bob', '/console/overview', desk);
    await other.getByRole('heading', { name: 'Only administrators see this page' }).waitFor();
    expect(await other.getByRole('link', { name: 'Overview' }).count()).toBe(0);
  });

  test('disables and enables people, and withdraws an invitation', async () => {
    const page = await stage.open('ada', '/console/people', desk);
    await row(page, /^Ada Lovelace/).waitFor();
    await page.getByRole('searchbox', { name: 'Name' }).fill('CLE');
    await row(page, /^Bob/).waitFor({ state: 'detached' });
    await becomes(async () => new URL(page.url()).search, '?q=CLE');
    await button(page, 'Disable cleo').click();
    const dialog = page.getByRole('dialog', { name: 'Disable cleo?' });
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await row(page, /Disabled/).waitFor();
    expect(await stage.person('cleo').refused('users.me', {})).toBe('unauthorized');
    await button(page, 'Enable cleo').click();
    await row(page, /Active/).waitFor();
    await button(page, 'Disable cleo').waitFor();

    await button(page, 'Invite somebody').click();
    const invite = page.getByRole('dialog');
    await invite.getByRole('textbox').fill('For Grace');
    await invite.getByRole('button', { name: 'Create' }).click();
    await invite.getByRole('textbox', { name: 'link' }).waitFor();
    await page.keyboard.press('Escape');
    const open = page.getByRole('region', { name: 'Open invitations' });
    await open.getByText('For Grace').waitFor();
    await button(page, 'Withdraw the invitation For Grace').click();
    await open.getByText('There are no open invitations.').waitFor();
    expect((await stage.person('ada').ok('invitations.list', {})).invitations).toEqual([]);

    // The account of oneself has no button for it, and the rest of an account is on its page.
    await page.goto(`${stage.url()}/console/people?q=ada`);
    await row(page, /^Ada Lovelace/).waitFor();
    expect(await button(page, 'Disable ada').count()).toBe(0);
    const manage = page.getByRole('link', { name: 'Password and role of ada' });
    expect(await manage.getAttribute('href')).toBe(`/admin/users/${stage.person('ada').userId}`);
  });

  test('tells the audit log in sentences, filters it by the URL, and exports what is shown', async () => {
    const ada = stage.person('ada');
    const notes = Array.from({ length: 60 }, (_, i) => `Note ${i}`);
    for (const note of notes) await ada.ok('invitations.create', { note });
    await ada.ok('invitations.create', { note: '=cmd|"calc", and more' });
    const page = await stage.open('ada', '/console/audit', desk);
    const entries = page.getByRole('list', { name: 'Entries' });
    await entries.getByText('ada created an invitation: “=cmd|"calc", and more”.').waitFor();
    await page.getByRole('combobox', { name: 'Act' }).selectOption('Created an invitation');
    await becomes(async () => new URL(page.url()).search, '?act=invitation_created');
    await becomes(() => entries.getByRole('listitem').count(), 50);
    await button(page, 'Show more').click();
    await entries.getByText('“Note 0”').waitFor();

    const download = async (format: 'CSV' | 'JSON') => {
      const [file] = await Promise.all([page.waitForEvent('download'), button(page, `Export as ${format}`).click()]);
      expect(file.suggestedFilename()).toMatch(/^parley-audit-\d{4}-\d\d-\d\d\.(csv|json)$/);
      return readFileSync(await file.path(), 'utf8');
    };
    const [head = [], ...lines] = parseCsv(await download('CSV'));
    const cells = lines.map((line) => Object.fromEntries(head.map((name, i) => [name, line[i]])));
    const { entries: all } = await ada.ok('service.audit', { act: 'invitation_created', limit: 200 });
    expect(cells.length).toBe(all.length);
    expect(cells[0]).toMatchObject({
      act: 'invitation_created',
      sentence: 'ada created an invitation: “=cmd|"calc", and more”.',
      user: 'ada',
      details: JSON.stringify({ note: '=cmd|"calc", and more' }),
    });
    expect(cells.map(({ time }) => time)).toEqual(all.map(({ at }) => at));
    await page.getByText(`Exported ${all.length} entries.`).waitFor();
    const json = JSON.parse(await download('JSON')) as { audit_id: number }[];
    expect(json.map(({ audit_id }) => audit_id)).toEqual(all.map(({ audit_id }) => audit_id));

    // A link has the filters. Nobody is found by a name that nobody has.
    const shared = await stage.openTab(page, '/console/audit?act=invitation_created&user=bob');
    await shared.getByRole('heading', { name: 'No entries match' }).waitFor();
    await shared.getByRole('searchbox', { name: 'Who' }).fill('nobody-at-all');
    await shared.getByText('Nobody has the name nobody-at-all.').waitFor();
    stage.expectNoFaults(/status of 404/);
    await shared.getByRole('link', { name: 'Clear filters' }).click();
    await shared.getByRole('list', { name: 'Entries' }).getByText('“Note 59”').waitFor();
    await shared.close();
  }, 120_000);

  test('has chats without their texts, the use of people, and the settings with their source', async () => {
    const ada = stage.person('ada');
    const chatId = await groupWith(stage, 'Launch');
    await say(ada, chatId, 'a word that nobody else may read');
    const { chat } = await stage.person('bob').ok('messages.create_direct', { user_id: ada.userId });
    await say(ada, chat.chat_id, 'and another');
    const page = await stage.open('ada', '/console/chats', desk);
    await row(page, /Launch.*Group/).waitFor();
    await row(page, /^Direct chat/).waitFor();
    await page.getByRole('combobox', { name: 'Type' }).selectOption('Direct');
    await row(page, /Launch/).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?type=direct');
    expect(await page.locator('main').innerText()).not.toContain('another');

    await page.goto(`${stage.url()}/console/storage?by=chats`);
    await page.getByText('Files: 10 GB').waitFor();
    await row(page, /^ada/).waitFor();

    await page.goto(`${stage.url()}/console/service`);
    await row(page, /^PARLEY_RATE_LIMIT.* off by default 50\/200 Environment$/).waitFor();
    await row(page, /^PARLEY_SECRET_KEY.* Set, and not shown Data folder$/).waitFor();
    await page.getByRole('checkbox', { name: 'Only those that are set' }).check();
    await row(page, /^PARLEY_AUDIT_DAYS/).waitFor({ state: 'detached' });
    await page.getByText('365 days').waitFor();
    const { status } = await ada.ok('service.status', {});
    await page.getByText(status.backup_command, { exact: true }).waitFor();
    await button(page, 'Copy the command').click();
    await page.getByText('Copied').waitFor();
  });

  test.each([
    ['a desk', desk],
    ['a phone', phone],
  ])(
    'has pages without violations that fit %s',
    async (_, size) => {
      await addHistory();
      const page = await stage.open('ada', '/console/overview', size);
      for (const name of pages) {
        await page.goto(`${stage.url()}/console/${name}`);
        await page.getByRole('main').locator('table, [role=img], ul.audit').first().waitFor();
        expect(await violationsOn(page)).toEqual([]);
        await until(`${name} is not wider than the screen`, () =>
          page.evaluate(() => {
            const main = document.querySelector('main');
            return main !== null && main.scrollWidth <= main.clientWidth && document.body.scrollWidth <= innerWidth;
          }),
        );
      }
    },
    120_000,
  );
});
