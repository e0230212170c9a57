/** The `__Host-` prefix keeps other hosts of the domain, and plain http, from setting the cookies. */
export const cookieNames = (isHttps: boolean) => {
  const prefix = isHttps ? '__Host-' : '';
  return { session: `${prefix}parley_session`, device: `${prefix}parley_device` } as const;
};

export function readCookie(header: string | null, name: string): string | undefined {
  if (header === null) return undefined;
  for (const pair of header.split(';')) {
    const middle = pair.indexOf('=');
    if (middle > 0 && pair.slice(0, middle).trim() === name) return pair.slice(middle + 1).trim();
  }
  return undefined;
}

/** `ms` of 0 deletes the cookie. */
export function writeCookie(name: string, value: string, isHttps: boolean, ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
}
