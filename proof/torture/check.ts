/** Returns what is wrong with texts that should be these, once each and in this order within each author. */
export function faultsOf(
  where: string,
  shown: readonly string[],
  typed: ReadonlyMap<string, readonly string[]>,
): string[] {
  const faults: string[] = [];
  const all = new Set([...typed.values()].flat());
  const twice = shown.filter((text, i) => shown.indexOf(text) !== i);
  if (twice.length > 0) faults.push(`${where}: ${twice.length} appear twice: ${sample(twice)}`);
  const unknown = shown.filter((text) => !all.has(text));
  if (unknown.length > 0) faults.push(`${where}: nobody typed ${sample(unknown)}`);
  for (const [author, texts] of typed) {
    const missing = texts.filter((text) => !shown.includes(text));
    if (missing.length > 0) faults.push(`${where}: ${missing.length} of ${author} are lost: ${sample(missing)}`);
    const own = shown.filter((text) => texts.includes(text));
    const at = own.findIndex((text, i) => i > 0 && texts.indexOf(text) < texts.indexOf(own[i - 1] ?? ''));
    if (at >= 0) faults.push(`${where}: "${own[at]}" of ${author} comes after "${own[at - 1]}"`);
  }
  return faults;
}

const sample = (texts: readonly string[]): string => texts.slice(0, 5).join(', ');
