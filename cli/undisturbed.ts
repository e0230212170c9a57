const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Lets the work come to its end before a signal ends the process; a second signal does not wait. */
export async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  let asked: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals) => {
    if (asked !== undefined) process.exit(1);
    asked = signal;
  };
  for (const signal of signals) process.on(signal, note);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, note);
    if (asked !== undefined) process.kill(process.pid, asked);
  }
}
