import type { CommandContext } from './context.ts';

/** The command that opens a URL on each system. None of them is a shell, which would interpret the URL. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
};

/** Tries to open a browser. Returns false if there is none to try. */
export function openBrowser(url: string, { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): boolean {
  const opener = openers[process.platform];
  if (!opener || !hasScreen(env)) return false;
  try {
    Bun.spawn([...opener, url], { env, cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
    return true;
  } catch {
    return false;
  }
}

/** Without a screen, xdg-open would start a text browser in this terminal. */
const hasScreen = (env: CommandContext['env']) =>
  process.platform === 'darwin' || process.platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
