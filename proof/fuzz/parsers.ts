import { addresses } from './parsers/addresses.ts';
import { archives } from './parsers/archives.ts';
import { authorization } from './parsers/authorization.ts';
import { backups } from './parsers/backups.ts';
import { clients } from './parsers/clients.ts';
import { fields } from './parsers/fields.ts';
import { headers } from './parsers/headers.ts';
import { multipart } from './parsers/multipart.ts';
import { settings } from './parsers/settings.ts';
import { texts } from './parsers/text.ts';
import type { Subject } from './subject.ts';

/** Every parser of input from others. */
export const parsers: readonly Subject[] = [
  ...fields,
  ...headers,
  ...multipart,
  ...addresses,
  ...authorization,
  ...settings,
  ...clients,
  ...texts,
  ...backups,
  ...archives,
];
