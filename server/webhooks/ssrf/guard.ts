import { invalidField } from '@parley/contract';
import { LRUCache } from 'lru-cache';
import {
  type Address,
  contains,
  isLoopbackHost,
  lastV4,
  type Network,
  readAddress,
  writeV4,
} from '../../domain/address.ts';
import { type Opening, type SpecialRange, specialRanges } from './ranges.ts';
import { NameFailure } from './resolve.ts';

/**
 * Thrown for an address that webhooks may not be sent to. The message is for the owner: why, and which setting opens it, if
 * one does. It continues a sentence that starts with the name of a field.
 */
export class AddressRefusal extends Error {
  /** The message for administrators. It also names the address that a name leads to, which others could map a network with. */
  readonly detail: string;

  constructor(message: string, detail = message) {
    super(message);
    this.detail = detail;
  }
}

/** The address to connect to. Every address in it was checked, and no name is resolved after that. */
export interface Target {
  readonly url: URL;
  readonly address: string;
  readonly family: 4 | 6;
  /** Other addresses of the same name, in the order to try them if the first does not accept. */
  readonly others?: readonly string[];
}

export interface GuardOptions {
  readonly openNetworks: readonly Network[];
  /** Opens loopback to URLs that name it: `localhost` or an address. */
  readonly loopbackAllowed: boolean;
  /** The port that the server listens on, once it does. */
  readonly ownPort: () => number | undefined;
  /** A loopback address was refused because a forwarded request asked for it. */
  readonly forwardedRefused?: () => void;
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly monotonic: () => number;
}

/** The checked addresses of a host, best first. */
interface Verdict {
  readonly address: string;
  readonly family: 4 | 6;
  readonly others: readonly string[];
  readonly isLoopback: boolean;
  /** One of them is open only because the server itself listens on loopback. */
  readonly isLocal: boolean;
}

interface Found extends Address {
  readonly text: string;
}

const maxCharacters = 2_048;
const maxAddresses = 4;
/** The cache of verdicts. An IP address in a URL stays in it, because its verdict never changes. */
const maxHosts = 4_096;
const cacheMs = 5_000;
const setting = 'PARLEY_WEBHOOK_NETWORKS';

/** The loopback ranges, whether or not they are open: the server itself may listen there. */
const loopbacks = specialRanges.filter((range) => range.opening === 'loopback');

/**
 * Decides where webhooks may be sent (SSRF protection). It checks every address that a name resolves to, and returns the
 * checked address to connect to: a name that resolves differently a moment later changes nothing.
 */
export class Guard {
  readonly #options: GuardOptions;
  /** Concurrent lookups of a name share one query. */
  readonly #verdicts: LRUCache<string, Verdict>;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#verdicts = new LRUCache({
      max: maxHosts,
      ttl: cacheMs,
      ttlResolution: 0,
      perf: { now: options.monotonic },
      fetchMethod: (name) => this.#lookUp(name),
      // Deliveries wait for a lookup even if other names push it out of the cache.
      ignoreFetchAbort: true,
    });
  }

  /**
   * Returns the parsed URL, without resolving the name. Throws AddressRefusal if the text itself is wrong: not a URL, not
   * http(s), with credentials, too long. Removes the fragment, which is never sent, and a dot at the end of the name.
   */
  readUrl(text: string): URL {
    if (text.length > maxCharacters) throw new AddressRefusal(`must have at most ${maxCharacters} characters`);
    if (!URL.canParse(text)) throw new AddressRefusal('must be a URL such as https://example.com/hook');
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new AddressRefusal('must begin with https:// or http://');
    }
    if (url.username !== '' || url.password !== '') throw new AddressRefusal('must not contain credentials');
    if (url.port === '0') throw new AddressRefusal('must have a port from 1 to 65535');
    url.hash = '';
    if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
    if (!isHost(url.hostname)) throw new AddressRefusal('must have a host name that can exist, or an IP address');
    if (url.href.length > maxCharacters) throw new AddressRefusal(`must have at most ${maxCharacters} characters`);
    return url;
  }

  /**
   * Returns the checked address of a URL that `readUrl` returned. Throws, or rejects with, AddressRefusal; or NameFailure
   * if the name does not resolve. It returns no promise for an IP address and for a cached name, because every delivery
   * calls it. IPv4 goes before IPv6, each in the order of the name server. A loopback address is refused if a forwarded
   * request asks for it, unless the setting opens it: it came from another machine. So is a name that leads to loopback and
   * is not `localhost`: somebody elsewhere may have registered it while it led to another address.
   */
  target(url: URL, isForwarded = false): Target | Promise<Target> {
    const host = url.hostname;
    const known = this.#verdicts.get(host);
    if (known) return this.#targetOf(url, known, isForwarded);
    const text = bare(host);
    const address = readAddress(text);
    if (!address) return this.#verdicts.forceFetch(host).then((verdict) => this.#targetOf(url, verdict, isForwarded));
    const verdict = this.#checkAll(host, [{ ...address, text }]);
    this.#verdicts.set(host, verdict, { ttl: 0 });
    return this.#targetOf(url, verdict, isForwarded);
  }

  #targetOf(url: URL, { address, family, others, isLoopback, isLocal }: Verdict, isForwarded: boolean): Target {
    if (isLoopback && portOf(url) === this.#options.ownPort()) {
      throw new AddressRefusal(`must not lead back to Parley itself, which listens at ${url.host}`);
    }
    if (isLocal && isForwarded) {
      throw this.refuseForwarded();
    }
    return { url, address, family, others };
  }

  refuseForwarded(): AddressRefusal {
    this.#options.forwardedRefused?.();
    return new AddressRefusal(
      'must not lead to a loopback address in a request that came through a proxy or to another host name',
    );
  }

  async #lookUp(name: string): Promise<Verdict> {
    const texts = await this.#options.resolve(name).catch((error: unknown) => {
      throw error instanceof NameFailure
        ? error
        : new NameFailure(`the name ${name} cannot be looked up`, 'dns_unavailable');
    });
    const found = [...new Set(texts)].map((text) => {
      const address = readAddress(text);
      if (!address) {
        throw new AddressRefusal(
          `${name} leads to no plain address`,
          `${name} leads to ${text}, which is not a plain address`,
        );
      }
      return { ...address, text };
    });
    return this.#checkAll(name, found);
  }

  /** Throws if any of the addresses is forbidden, or if there is none. */
  #checkAll(host: string, found: readonly Found[]): Verdict {
    for (const address of found) {
      const fault = this.#faultOf(bare(host), address);
      if (fault) throw fault;
    }
    const [first, ...others] = found.toSorted((a, b) => a.family - b.family).slice(0, maxAddresses);
    if (!first) throw new NameFailure(`the name ${host} does not resolve`, 'dns');
    return {
      address: first.text,
      family: first.family,
      others: others.map((other) => other.text),
      isLoopback: found.some((address) => loopbacks.some((range) => contains(range.network, address))),
      isLocal: found.some((address) => this.#isLocal(address)),
    };
  }

  /** Returns why an address of a host is forbidden, or undefined if it is not. */
  #faultOf(host: string, address: Found): AddressRefusal | undefined {
    const range = rangeOf(address);
    if (!range) return undefined;
    if (!this.#isOpen(host, range, address)) return describe(host, address.text, range);
    if (range.opening !== 'translated') return undefined;
    const inner = lastV4(address);
    return this.#faultOf(host, { ...inner, text: writeV4(inner) });
  }

  /** Returns whether an address, or the IPv4 address in it, is loopback and not opened by the setting. */
  #isLocal(address: Address): boolean {
    const range = rangeOf(address);
    if (range?.opening === 'translated') return this.#isLocal(lastV4(address));
    return range?.opening === 'loopback' && !this.#options.openNetworks.some((network) => contains(network, address));
  }

  #isOpen(host: string, range: SpecialRange, address: Address): boolean {
    if (range.opening === 'never') return false;
    if (range.opening === 'loopback' && this.#options.loopbackAllowed && isLoopbackHost(host)) return true;
    return this.#options.openNetworks.some((network) => contains(network, address));
  }
}

const bare = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host);

/** IPv6 in brackets, IPv4, or labels that DNS allows. The URL parser lets more through. */
const isHost = (host: string): boolean =>
  host.startsWith('[') || (host.length <= 253 && /^[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*$/.test(host));

const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

const remedies: Record<Opening, string> = {
  setting: `; the setting ${setting} can open it`,
  translated: `; the setting ${setting} can open it`,
  loopback: `; it is open while Parley itself is served on loopback alone, or by the setting ${setting}`,
  never: '; no setting opens it',
};

const rangeOf = (address: Address): SpecialRange | undefined =>
  specialRanges.find((row) => contains(row.network, address));

function describe(requested: string, text: string, { network, name, opening }: SpecialRange): AddressRefusal {
  const { first, last } = network;
  const remedy = remedies[opening === 'loopback' && !isLoopbackHost(requested) ? 'setting' : opening];
  const what = `${name}${first === last ? '' : ` (${network.text})`}${remedy}`;
  if (requested === text) return new AddressRefusal(`${text} is ${what}`);
  return new AddressRefusal(`${requested} leads to ${name}${remedy}`, `${requested} leads to ${text}, ${what}`);
}

/**
 * Returns the URL as it is stored. Throws `invalid_input` if webhooks may not be sent to it. A name that does not resolve is
 * accepted: the endpoint may not exist yet, and its deliveries say so.
 */
export async function checkUrl(
  guard: Guard,
  text: string,
  { isForwarded, isAdmin }: { isForwarded: boolean; isAdmin: boolean },
  /** The field that the error names. */
  field = 'url',
): Promise<string> {
  try {
    const url = guard.readUrl(text);
    await Promise.resolve(guard.target(url, isForwarded)).catch((error) => {
      if (!(error instanceof NameFailure)) throw error;
      // A name of this machine leads to loopback as soon as it resolves.
      if (isForwarded && isLoopbackHost(url.hostname)) throw guard.refuseForwarded();
    });
    return url.href;
  } catch (error) {
    if (!(error instanceof AddressRefusal)) throw error;
    throw invalidField(field, isAdmin ? error.detail : error.message);
  }
}
