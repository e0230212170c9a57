/** A name that does not lead to an address, or not in time; the message is for the owner of the webhook. */
export class NameFailure extends Error {}

const withinMs = 5_000;

/** Codes that say of the name itself that it leads nowhere; any other means that the question got no answer. */
const leadsNowhere = new Set(['DNS_ENOTFOUND', 'DNS_ENODATA', 'DNS_EBADNAME', 'DNS_ENONAME']);

/**
 * Every address of a name, from `/etc/hosts` or from the name server. By c-ares and not by libc: that one blocks a thread
 * for each name it waits for, and a dozen names whose server was silent held up files and all other names for 40 s. The
 * price is that c-ares reads the name server's address once: after a change of `resolv.conf`, restart.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NameFailure(`the name ${name} took too long to look up`)), withinMs);
  });
  try {
    const found = await Promise.race([Bun.dns.lookup(name, { backend: 'c-ares' }), late]);
    return found.map((entry) => entry.address);
  } catch (error) {
    throw error instanceof NameFailure ? error : failureOf(name, error);
  } finally {
    clearTimeout(timer);
  }
}

function failureOf(name: string, error: unknown): NameFailure {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && leadsNowhere.has(code)
    ? new NameFailure(`the name ${name} does not resolve`)
    : new NameFailure(`the name ${name} cannot be looked up at the moment`);
}
