import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Leaves the link where whoever can read the data folder finds it, or removes one that is of no more use. */
export function keepSetupLink(folder: string, link: string | undefined): void {
  const file = join(folder, 'setup-link');
  // Anew, so that its mode is what it should be whatever was there.
  rmSync(file, { force: true });
  if (link !== undefined) writeFileSync(file, `${link}\n`, { mode: 0o600 });
}
