import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the set-up link into the data folder, or removes it. */
export function keepSetupLink(folder: string, link: string | undefined): void {
  const file = join(folder, 'setup-link');
  // A new file, so that an existing one does not keep its mode.
  rmSync(file, { force: true });
  if (link !== undefined) writeFileSync(file, `${link}\n`, { mode: 0o600 });
}
