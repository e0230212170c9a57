import { type Address, contains, lastV4, type Network, readAddress, writeV4 } from '../domain/address.ts';
import { NameFailure } from './resolve.ts';
import { type Opening, type SpecialRange, specialRanges } from './special-addresses.ts';

export type { Network } from '../domain/address.ts';
export { NameFailure, resolveName } from './resolve.ts';

/**
 * An address that webhooks may not be sent to. The message is for the owner: which address, why, and which setting opens
 * it where one does; it reads on after the name of a field.
 */
export class AddressRefusal extends Error {}

/** Where to dial: every address in it was judged, and no name is looked up after that. */
export interface Target {
  readonly url: URL;
  readonly address: string;
  readonly family: 4 | 6;
  /** Other addresses of the same name, to be tried in this order where nobody listens at the first. */
  readonly others?: readonly string[];
}

export interface GuardOptions {
  readonly openNetworks: readonly Network[];
  readonly loopbackAllowed: boolean;
  /** The port that the server listens on, once it does. */
  readonly ownPort: () => number | undefined;
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** How long the addresses of a name are used before it is looked up again. */
  readonly keepMs?: number;
}

/** What became of a host: the addresses to dial, best first. */
interface Verdict {
  readonly address: string;
  readonly family: 4 | 6;
  readonly others: readonly string[];
  readonly loopback: boolean;
  /** On the clock of `performance.now`. */
  readonly until: number;
}

interface Found extends Address {
  readonly text: string;
}

/** An address that may not be reached, and the range that says so. */
interface Fault {
  readonly text: string;
  readonly range: SpecialRange;
}

const mostCharacters = 2_048;
const mostAddresses = 4;
const mostHosts = 4_096;
const setting = 'PARLEY_WEBHOOK_NETWORKS';

/** The loopback ranges, whether or not they are open: what listens there may be the server itself. */
const loopbacks = specialRanges.filter((range) => range.opening === 'loopback');

/**
 * Decides where webhooks may be sent. It judges every address that a name leads to, and hands out the judged address for
 * dialling: a name that leads elsewhere a moment later changes nothing.
 */
export class Guard {
  readonly #options: GuardOptions;
  readonly #keepMs: number;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #underWay = new Map<string, Promise<Verdict>>();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#keepMs = options.keepMs ?? 5_000;
  }

  /**
   * Reads the text of a URL, without looking the name up. Throws AddressRefusal for what is wrong with the text itself:
   * not a URL, not http(s), credentials, too long. A fragment, which is never sent, and a dot at the end of the name are
   * dropped.
   */
  readUrl(text: string): URL {
    if (text.length > mostCharacters) throw new AddressRefusal(`must have at most ${mostCharacters} characters`);
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
    if (url.href.length > mostCharacters) throw new AddressRefusal(`must have at most ${mostCharacters} characters`);
    return url;
  }

  /**
   * The judged address of a URL that `readUrl` answered. Throws, or rejects with, AddressRefusal; or NameFailure where the
   * name does not resolve. It answers at once for an IP address and for a name that was looked up a moment ago: every
   * delivery asks. IPv4 goes before IPv6, each in the order of the name server.
   */
  target(url: URL): Target | Promise<Target> {
    const host = url.hostname;
    const known = this.#verdicts.get(host);
    if (known !== undefined && performance.now() < known.until) return this.#aim(url, known);
    const text = bare(host);
    const address = readAddress(text);
    if (address) return this.#aim(url, this.#judgeAll(host, [{ ...address, text }], Number.POSITIVE_INFINITY));
    return this.#lookUpOnce(host).then((verdict) => this.#aim(url, verdict));
  }

  #aim(url: URL, { address, family, others, loopback }: Verdict): Target {
    if (loopback && portOf(url) === this.#options.ownPort()) {
      throw new AddressRefusal(`must not lead back to Parley itself, which listens at ${url.host}`);
    }
    return { url, address, family, others };
  }

  #lookUpOnce(name: string): Promise<Verdict> {
    const underWay = this.#underWay.get(name);
    if (underWay) return underWay;
    const lookup = this.#lookUp(name).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<Verdict> {
    const texts = await this.#options.resolve(name).catch((error: unknown) => {
      throw error instanceof NameFailure ? error : new NameFailure(`the name ${name} cannot be looked up`);
    });
    if (texts.length === 0) throw new NameFailure(`the name ${name} does not resolve`);
    const found = [...new Set(texts)].map((text) => {
      const address = readAddress(text);
      if (!address) throw new AddressRefusal(`${name} leads to ${text}, which is not a plain address`);
      return { ...address, text };
    });
    return this.#judgeAll(name, found, performance.now() + this.#keepMs);
  }

  /** One bad address refuses them all. */
  #judgeAll(host: string, found: readonly Found[], until: number): Verdict {
    for (const address of found) {
      const fault = this.#faultOf(address, address.text);
      if (fault) throw new AddressRefusal(describe(bare(host), fault));
    }
    const [first, ...others] = found.toSorted((a, b) => a.family - b.family).slice(0, mostAddresses);
    if (!first) throw new NameFailure(`the name ${host} does not resolve`);
    const verdict: Verdict = {
      address: first.text,
      family: first.family,
      others: others.map((other) => other.text),
      loopback: found.some((address) => loopbacks.some((range) => contains(range.network, address))),
      until,
    };
    if (this.#verdicts.size >= mostHosts) this.#verdicts.clear();
    this.#verdicts.set(host, verdict);
    return verdict;
  }

  #faultOf(address: Address, text: string): Fault | undefined {
    const range = specialRanges.find((row) => contains(row.network, address));
    if (!range) return undefined;
    if (!this.#isOpen(range, address)) return { text, range };
    if (range.opening !== 'translated') return undefined;
    const inner = lastV4(address);
    return this.#faultOf(inner, writeV4(inner));
  }

  #isOpen(range: SpecialRange, address: Address): boolean {
    if (range.opening === 'never') return false;
    if (range.opening === 'loopback' && this.#options.loopbackAllowed) return true;
    return this.#options.openNetworks.some((network) => contains(network, address));
  }
}

const bare = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host);

/** IPv6 in brackets, IPv4, or labels that a name server can be asked for; the URL parser lets more through. */
const isHost = (host: string): boolean =>
  host.startsWith('[') || (host.length <= 253 && /^[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*$/.test(host));

const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

const remedies: Record<Opening, string> = {
  setting: `; the setting ${setting} can open it`,
  translated: `; the setting ${setting} can open it`,
  loopback: `; it is open while Parley itself is served on loopback alone, or by the setting ${setting}`,
  never: '; no setting opens it',
};

function describe(asked: string, { text, range }: Fault): string {
  const { first, last, text: network } = range.network;
  const what = `${range.name}${first === last ? '' : ` (${network})`}${remedies[range.opening]}`;
  return asked === text ? `${text} is ${what}` : `${asked} leads to ${text}, ${what}`;
}
