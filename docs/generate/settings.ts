import { settingsTable } from '@parley/server/config.ts';
import { code, page, table } from './markdown.ts';

export function settingsPage(): string {
  const rows = Object.values(settingsTable).map(({ env, summary, fallback }) => [
    code(env),
    fallback === '' ? 'none' : code(fallback),
    summary,
  ]);
  return page('Settings', [
    `Settings are environment variables, read once at the start. An empty one counts as absent. One that makes no sense
stops the start with a line that says what would. \`npx parley\` reads the same variables to find the database.`,
    table(['Variable', 'Default', 'Meaning'], rows),
  ]);
}
