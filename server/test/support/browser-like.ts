import { addUser } from '../../auth/administer.ts';
import type { UserRow } from '../../store/access/users.ts';
import type { TestServer } from './server.ts';

/** A page as it was received. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The visible text on one line, without markup. */
  readonly words: string;
  /** The visible text of the main part. */
  readonly main: string;
  /** The `Location` header. */
  readonly location: string | null;
}

export type Fields = Readonly<Record<string, string | number | readonly string[]>>;
type Headed = Readonly<Record<string, string>>;

/** The headers that browsers send with a same-origin form. */
export const fromOurPage: Headed = { 'sec-fetch-site': 'same-origin' };

/** Keeps cookies and sends forms like a browser. It follows no redirects, so that tests can check each. */
export class BrowserLike {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  /** Sent with every request. */
  readonly #always: Headed;

  constructor(url: string, always: Headed = {}) {
    this.url = url;
    this.#always = always;
  }

  get(path: string, headers: Headed = {}): Promise<Page> {
    return this.#send(path, { headers: { accept: 'text/html', ...headers } });
  }

  post(path: string, fields: Fields = {}, headers: Headed = fromOurPage): Promise<Page> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of Array.isArray(value) ? value : [value]) body.append(name, String(one));
    }
    return this.#send(path, { method: 'POST', headers: { accept: 'text/html', ...headers }, body });
  }

  /** Posts a body that no browser would send. */
  postRaw(path: string, body: BodyInit, headers: Headed): Promise<Page> {
    return this.#send(path, { method: 'POST', headers: { accept: 'text/html', ...fromOurPage, ...headers }, body });
  }

  async signIn(name: string, password: string, more: Fields = {}): Promise<Page> {
    return this.post('/sign-in', { name, password, ...more });
  }

  /** Returns the name of the user that the browser is signed in as. */
  async signedInAs(): Promise<string | undefined> {
    const { words } = await this.get('/password');
    return /Signed in as (\S+)/.exec(words)?.[1];
  }

  get session(): string | undefined {
    return this.cookies.get('parley_session');
  }

  async #send(path: string, init: RequestInit & { headers: Headed }): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.url), {
      ...init,
      redirect: 'manual',
      headers: { ...this.#always, ...(cookie !== '' && { cookie }), ...init.headers },
    });
    for (const set of response.headers.getSetCookie()) this.#keep(set);
    const html = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      html,
      words: wordsOf(html),
      main: wordsOf(html.replace(/^[\s\S]*<main[^>]*>/, '')),
      location: response.headers.get('location'),
    };
  }

  #keep(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (/; Max-Age=0\b/.test(set)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Unescapes HTML. */
export const decode = (html: string): string =>
  html.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

const wordsOf = (html: string): string =>
  decode(html.replace(/<(head|style)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

/** A password that the server accepts. */
export const goodPassword = 'a fine long password';

let people = 0;

/** Creates a person who can sign in with `goodPassword`, under a unique name. */
export function person(server: TestServer, options: { name?: string; admin?: boolean } = {}): Promise<UserRow> {
  const { name = `person${++people}`, admin = false } = options;
  return addUser(server.tools, { name, isAdmin: admin, password: goodPassword });
}

/** Returns an unused IP address of the block for documentation. */
export const newAddress = (): string => `198.51.${100 + Math.floor(++people / 250)}.${(people % 250) + 1}`;
