/** What opens an address on each system. None of them goes through a shell, which would read the address. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
};

/** Tries to open a browser, and answers whether there was something to try. */
export function openBrowser(address: string): boolean {
  const opener = openers[process.platform];
  if (!opener || !hasScreen()) return false;
  try {
    Bun.spawn([...opener, address], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
    return true;
  } catch {
    return false;
  }
}

/** Without a screen xdg-open would start a browser for terminals, in this one. */
const hasScreen = () =>
  process.platform === 'darwin' ||
  process.platform === 'win32' ||
  Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
