import type { ClientBundle } from '@parley/server/pages/client-bundle.ts';

/** Returns the names of the scripts that the page loads at once. */
export function firstScripts({ files, scripts }: ClientBundle): ReadonlySet<string> {
  const first = new Set<string>();
  const visit = (name: string) => {
    const file = files.get(name);
    if (!file || first.has(name)) return;
    first.add(name);
    const source = new TextDecoder().decode(file.bytes);
    // Imports that run at once. `import(…)` loads later.
    for (const [, imported = ''] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) visit(imported);
  };
  for (const name of scripts) visit(name);
  return first;
}
