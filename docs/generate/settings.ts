import { settingsTable, summaries } from '@parley/server/config.ts';
import { code, page, table } from './markdown.ts';

export function settingsPage(): string {
  const rows = Object.entries(settingsTable).map(([key, { env, fallback }]) => [
    code(env),
    fallback === '' ? 'none' : code(fallback),
    summaries[key as keyof typeof summaries],
  ]);
  return page('Settings', [
    `Settings are environment variables. The server reads them once, at its start. An empty variable counts as unset. An
invalid value stops the start with an error that says which values are valid. \`npx parley\` reads the same variables to
find the database. Both also read \`.env\` in the folder that they are started in, which the environment overrides.`,
    table(['Variable', 'Default', 'Meaning'], rows),
  ]);
}
