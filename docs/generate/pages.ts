import { join } from 'node:path';
import { apiPage } from './api.ts';
import { errorsPage } from './errors.ts';
import { eventsPage } from './events.ts';
import { sdkPage } from './sdk-page.ts';
import { settingsPage } from './settings.ts';

export const referenceFolder = join(import.meta.dir, '../reference');

/** Every page of the reference, by file name. */
export const pages = (): Readonly<Record<string, string>> => ({
  'api.md': apiPage(),
  'events.md': eventsPage(),
  'errors.md': errorsPage(),
  'settings.md': settingsPage(),
  'sdk.md': sdkPage(join(referenceFolder, 'sdk.md')),
});
