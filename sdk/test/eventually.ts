/** Only a hang takes this long, however slow the machine is. */
const hangMs = 120_000;

/** Waits for a condition: looks again and again until `look` returns something, and returns that. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
): Promise<T> {
  for (const deadline = performance.now() + hangMs; performance.now() < deadline; await Bun.sleep(5)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}
