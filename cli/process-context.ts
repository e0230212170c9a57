import { systemClock } from '@parley/sdk/clock.ts';
import type { Clock, CommandContext } from './context.ts';

export const processClock: Clock = {
  ...systemClock,
  now: () => performance.now(),
  // A command that is done does not wait for the end of a timeout.
  timeout: (ms, expired) => {
    const timer = setTimeout(expired, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** The context of a command that has this process to itself. */
export function processContext(): CommandContext {
  // The callback of a write gets the same error. Without a listener the event would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    env: process.env,
    cwd: process.cwd(),
    // Opened only where a command reads it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    clock: processClock,
    onSignal: (signals, listener) => {
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    exit: (code) => process.exit(code),
    bypassProxy,
  };
}

/** The only way to have `fetch` bypass a proxy is the environment of the process. */
function bypassProxy(host: string): void {
  const others = process.env.no_proxy ?? process.env.NO_PROXY;
  const direct = others ? `${others},${host}` : host;
  Object.assign(process.env, { no_proxy: direct, NO_PROXY: direct });
}
