import type { CommandContext } from './context.ts';

/** The command that opens a URL on each system. None of them is a shell, which would interpret the URL. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
};

/** Returns whether there is a screen in front of the user, and a program that opens a browser on it. */
export const canOpenBrowser = ({ env }: Pick<CommandContext, 'env'>): boolean =>
  hasScreen(env) && Bun.which(openers[process.platform]?.[0] ?? '', { PATH: env.PATH ?? '' }) !== null;

/** Tries to open a browser. */
export function openBrowser(url: string, { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): void {
  const opener = openers[process.platform] ?? [];
  try {
    Bun.spawn([...opener, url], { env, cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
  } catch {
    // The URL is on the terminal too.
  }
}

/** Without a screen, xdg-open would start a text browser in this terminal. Over SSH, the others would use a distant screen. */
const hasScreen = (env: CommandContext['env']): boolean =>
  process.platform === 'darwin' || process.platform === 'win32'
    ? !env.SSH_CONNECTION
    : Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
