import { systemClock } from '@parley-chat/sdk/clock.ts';
import type { Clock, CommandContext } from './context.ts';

export const processClock: Clock = {
  ...systemClock,
  now: () => performance.now(),
  // A pending timeout does not keep the process alive.
  timeout: (ms, expired) => {
    const timer = setTimeout(expired, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Returns the words after the runtime. An executable has its main file inside. */
const ownWords = (): string[] =>
  Bun.isStandaloneExecutable ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];

/** Returns the context of the only command in this process. */
export function processContext(): CommandContext {
  // The callback of a write gets the same error. An unhandled event would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    env: process.env,
    cwd: process.cwd(),
    // A getter, because reading `process.stdin` opens it.
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
    restart: (env) => {
      // What an executable says to people depends on how it was typed.
      const first = Bun.isStandaloneExecutable ? process.argv0 : process.execPath;
      if (process.platform !== 'win32') process.execve?.(process.execPath, [first, ...ownWords()], env);
      Object.assign(process.env, env);
    },
    // Only the environment of the process can make `fetch` bypass a proxy.
    bypassProxy: (host) => {
      const others = process.env.no_proxy ?? process.env.NO_PROXY;
      const direct = others ? `${others},${host}` : host;
      Object.assign(process.env, { no_proxy: direct, NO_PROXY: direct });
    },
  };
}
