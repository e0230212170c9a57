import { withTimeout } from '../../lib/timeout.ts';

/** Thrown if a name does not resolve, or not in time. The message is for the owner of the webhook. */
export class NameFailure extends Error {
  /** Whether the name does not exist, or its servers did not say. */
  readonly failure: 'dns' | 'dns_unavailable';

  constructor(message: string, failure: NameFailure['failure']) {
    super(message);
    this.failure = failure;
  }
}

const timeoutMs = 5_000;

/** Codes that say that the name itself does not exist. Any other means that the query got no answer. */
const notFoundCodes = new Set(['DNS_ENOTFOUND', 'DNS_ENODATA', 'DNS_EBADNAME', 'DNS_ENONAME']);

/**
 * Returns every address of a name, from `/etc/hosts` or DNS. It uses c-ares and not libc: libc blocks a thread for each
 * query, and a dozen names whose server was silent held up files and all other names for 40 s. The price is that c-ares
 * reads the address of the name server once: after a change of `resolv.conf`, restart.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  const late = () => new NameFailure(`the name ${name} took too long to look up`, 'dns_unavailable');
  try {
    const found = await withTimeout(timeoutMs, Bun.dns.lookup(name, { backend: 'c-ares' }), late);
    return found.map((entry) => entry.address);
  } catch (error) {
    throw error instanceof NameFailure ? error : failureOf(name, error);
  }
}

function failureOf(name: string, error: unknown): NameFailure {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && notFoundCodes.has(code)
    ? new NameFailure(`the name ${name} does not resolve`, 'dns')
    : new NameFailure(`the name ${name} cannot be looked up at the moment`, 'dns_unavailable');
}
