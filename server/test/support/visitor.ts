import { expect } from 'bun:test';
import type { UserId } from '@parley/contract';
import { openSession } from '../../auth/sessions.ts';
import { processRuntime } from '../../compose.ts';
import { cookieNames } from '../../http/cookies.ts';
import { BrowserLike, decode, type Page } from './browser-like.ts';
import { SessionClient } from './client.ts';
import type { TestServer } from './server.ts';

/** The IP address of visitors. The server must trust one proxy. */
export const address = '203.0.113.7';
export const believingProxies = { TRUST_PROXY: '1' };

/** Returns a browser at this IP address. */
export class Visitor extends BrowserLike {
  constructor(url: string, session?: string) {
    super(url, { 'x-forwarded-for': address });
    if (session !== undefined) this.cookies.set(cookieNames(false).session, session);
  }
}

/** Returns the secret of a new session, as if the user had entered the password at a time. */
async function newSession(server: TestServer, userId: number, at = Date.now()): Promise<string> {
  return (await server.engine.write((tx) => openSession(tx, processRuntime, userId as UserId, at))).secret;
}

/** Returns a browser that is signed in as a user. */
export async function signedIn(server: TestServer, { userId }: { userId: number }, at?: number): Promise<Visitor> {
  return new Visitor(server.url, await newSession(server, userId, at));
}

/** Returns a client for calls in the session of a browser. */
export async function inSession(
  server: TestServer,
  { userId }: { userId: number },
  at?: number,
): Promise<SessionClient> {
  return new SessionClient(server.url, await newSession(server, userId, at), userId);
}

/** Returns the value of a field, or undefined if it is absent or unchecked. */
export function typedIn(html: string, name: string): string | undefined {
  const area = new RegExp(`<textarea[^>]* name="${name}"[^>]*>([^<]*)</textarea>`).exec(html)?.[1];
  if (area !== undefined) return decode(area);
  const list = new RegExp(`<select[^>]* name="${name}"[^>]*>([\\s\\S]*?)</select>`).exec(html)?.[1];
  const tag =
    list === undefined
      ? inputs(html).find((input) => isChosen(input, name))
      : /<option[^>]* selected[^>]*>/.exec(list)?.[0];
  const value = tag && / value="([^"]*)"/.exec(tag)?.[1];
  return value === undefined ? undefined : decode(value);
}

const inputs = (html: string): string[] => html.match(/<input[^>]*>/g) ?? [];

const isChosen = (input: string, name: string): boolean =>
  input.includes(` name="${name}"`) && (!/type="(checkbox|radio)"/.test(input) || / checked/.test(input));

/** Returns the secret that a page shows once. */
export function secretIn({ html, status }: Page): string {
  expect(status).toBe(200);
  const value = /<textarea id="secret"[^>]*>([^<]+)<\/textarea>/.exec(html)?.[1];
  if (value === undefined) throw new Error('no secret is shown');
  return value;
}

/** The scripts of pages are files of ours, under names that change with them. */
const ourScript = /<script type="module" src="\/assets\/(client\/main-)?\w+\.js"><\/script>/;

export const hasOurScript = ({ html }: Page): boolean => ourScript.test(html);

/** Returns the markup of a page without its script. No other may be in it. */
export const withoutOurScript = (html: string): string => html.replace(ourScript, '');

/** Checks what every page must have: labels, ordered headings, unique ids, and no scripts but ours. */
export function expectSound({ html }: Page): void {
  expect(html).toStartWith('<!doctype html><html lang="en">');
  expect(withoutOurScript(html)).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/i);
  const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  for (const [i, level] of levels.entries()) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
  const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
  const unlabelled = (
    html.replace(/<label class="box">[\s\S]*?<\/label>/g, '').match(/<(input|select|textarea)[^>]*>/g) ?? []
  )
    .filter((field) => !/type="hidden"| hidden=/.test(field))
    .filter((field) => !html.includes(`<label for="${/ id="([^"]*)"/.exec(field)?.[1]}">`));
  expect(unlabelled).toEqual([]);
  for (const [, described] of html.matchAll(/aria-describedby="([^"]*)"/g)) {
    for (const id of (described ?? '').split(' ')) expect(ids).toContain(id);
  }
}

/** Checks that neither the database nor a page contains the secret. */
export async function expectGone(
  server: TestServer,
  secret: string,
  visitor: Visitor,
  ...paths: string[]
): Promise<void> {
  for (const table of ['tokens', 'apps', 'links', 'users', 'grants', 'audit']) {
    expect(JSON.stringify(await server.engine.all(`SELECT * FROM ${table}`))).not.toContain(secret);
  }
  for (const path of paths) {
    const { status, html } = await visitor.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(html).not.toContain(secret);
  }
}

export interface Entry {
  readonly act: string;
  readonly user_id: number | null;
  readonly address: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Returns the newest entry of the audit log. */
export async function lastAct(server: TestServer): Promise<Entry> {
  const [entry] = await server.engine.all<Omit<Entry, 'details'> & { details: string }>(
    'SELECT act, user_id, address, details FROM audit ORDER BY audit_id DESC LIMIT 1',
  );
  if (!entry) throw new Error('the log is empty');
  return { ...entry, details: JSON.parse(entry.details) };
}

export async function countActs(server: TestServer): Promise<number> {
  return (await server.engine.all('SELECT audit_id FROM audit')).length;
}
