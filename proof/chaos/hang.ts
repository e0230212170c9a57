/** Catches what hangs, and nothing else: a busy machine may take many times as long as an idle one. */
export const hangMs = 90_000;
