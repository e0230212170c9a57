import type { CommandContext } from './context.ts';

/** What opens an address on each system. None of them goes through a shell, which would read the address. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
};

/** Tries to open a browser, and answers whether there was something to try. */
export function openBrowser(address: string, { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): boolean {
  const opener = openers[process.platform];
  if (!opener || !hasScreen(env)) return false;
  try {
    Bun.spawn([...opener, address], { env, cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
    return true;
  } catch {
    return false;
  }
}

/** Without a screen xdg-open would start a browser for terminals, in this one. */
const hasScreen = (env: CommandContext['env']) =>
  process.platform === 'darwin' || process.platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
