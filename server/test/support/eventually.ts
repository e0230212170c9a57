/** Only catches hangs: a busy machine may take many times as long as an idle one. */
export const hangMs = 110_000;

/** Calls `attempt` until it returns a result. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = performance.now() + hangMs; performance.now() < deadline; await Bun.sleep(15)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error(`waited in vain: ${what}`);
}
