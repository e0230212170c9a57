import { addUser } from '../../auth/administer.ts';
import type { UserRow } from '../../store/access/users.ts';
import type { TestServer } from './server.ts';

/** A page as it came. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** What a person reads on it: without markup, on one line. */
  readonly words: string;
  /** The same of its main part, without what frames it. */
  readonly main: string;
  /** Where it leads on to, as the server wrote it. */
  readonly location: string | null;
}

export type Fields = Readonly<Record<string, string | number | readonly string[]>>;
type Headed = Readonly<Record<string, string>>;

/** What browsers say of a form that a page sends to its own site. */
export const fromOurPage: Headed = { 'sec-fetch-site': 'same-origin' };

/** Keeps cookies and sends forms as a browser does, and follows no redirect: the tests look at each. */
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

  /** A form as nobody's browser would write it. */
  postRaw(path: string, body: BodyInit, headers: Headed): Promise<Page> {
    return this.#send(path, { method: 'POST', headers: { accept: 'text/html', ...fromOurPage, ...headers }, body });
  }

  async signIn(name: string, password: string, more: Fields = {}): Promise<Page> {
    return this.post('/sign-in', { name, password, ...more });
  }

  /** Whom the server takes this browser for. */
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

/** Markup as it was before it was escaped. */
export const decode = (html: string): string =>
  html.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

const wordsOf = (html: string): string =>
  decode(html.replace(/<(head|style)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

/** Good enough for anybody in these tests. */
export const goodPassword = 'a fine long password';

let people = 0;

/** Somebody who can sign in with `goodPassword`, under a name that no other test of the server uses. */
export function person(server: TestServer, options: { name?: string; admin?: boolean } = {}): Promise<UserRow> {
  const { name = `person${++people}`, admin = false } = options;
  return addUser(server.tools, { name, isAdmin: admin, password: goodPassword });
}

/** An address of the block for documentation that no other test uses. */
export const newAddress = (): string => `198.51.${100 + Math.floor(++people / 250)}.${(people % 250) + 1}`;
