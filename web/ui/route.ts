import { signal } from '@preact/signals';

/** What the path shows. */
export type Route =
  | { readonly name: 'home' }
  | {
      readonly name: 'chat';
      readonly chatId: number;
      readonly messageId: number | undefined;
      readonly threadId: number | undefined;
    }
  | { readonly name: 'message'; readonly messageId: number }
  | { readonly name: 'search'; readonly search: SearchRoute }
  | { readonly name: 'threads' }
  | { readonly name: 'browse' }
  | { readonly name: 'settings'; readonly section: SettingsSection }
  | ConsoleRoute
  | DocsRoute;

/** The pages of the console for administrators. */
const adminPages = ['overview', 'people', 'storage', 'chats', 'audit', 'service'] as const;
export type AdminPage = (typeof adminPages)[number];

/** The pages of the console. `server/pages/client.tsx` has their paths too. */
const consolePages = ['webhooks', 'events', 'signatures', 'tokens', 'bots', 'apps', ...adminPages] as const;

/** Those that have a page for each of their things. */
const consoleLists: readonly string[] = ['webhooks', 'bots', 'apps'];

export interface ConsoleRoute {
  readonly name: 'console';
  readonly page: (typeof consolePages)[number];
  /** The webhook, bot or app that is shown, of all of them. 0 if the path has something else than an id. */
  readonly id: number | undefined;
  /** The page reads its filters from it. */
  readonly query: string;
}

/** The API reference. It reads the rest of the path itself: nothing, an operation, or a guide. */
export interface DocsRoute {
  readonly name: 'docs';
  readonly page: string;
}

/** The settings that the client shows itself. `server/pages/client.tsx` has their paths too. */
export const settingsSections = ['profile', 'appearance', 'notifications', 'service'] as const;
export type SettingsSection = (typeof settingsSections)[number];

/** The words and the filters of a search. */
export interface SearchRoute {
  readonly query: string;
  readonly chatId: number | undefined;
  /** The name of a user. */
  readonly from: string;
  readonly hasFile: boolean;
  /** A day, as a field of a form has it. */
  readonly before: string;
}

export function searchPath({ query, chatId, from, hasFile, before }: SearchRoute): string {
  const parameters = new URLSearchParams({ q: query });
  if (chatId !== undefined) parameters.set('chat', String(chatId));
  if (from !== '') parameters.set('from', from);
  if (hasFile) parameters.set('file', '1');
  if (before !== '') parameters.set('before', before);
  return `/search?${parameters}`;
}

/** Returns the route of a path, or undefined if it is not one of ours. */
export function parseRoute(path: string): Route | undefined {
  const { pathname, search, searchParams } = new URL(path, 'http://x');
  const [first = '', second, third, ...rest] = pathname.slice(1).split('/');
  if (rest.length > 0) return undefined;
  const ids = [second, third].map((part) => (part !== undefined && /^\d{1,15}$/.test(part) ? Number(part) : undefined));
  if (first === '' && second === undefined) return { name: 'home' };
  if (first === 'chats' && ids[0] && (third === undefined || ids[1])) {
    const threadId = Number(searchParams.get('thread')) || undefined;
    return { name: 'chat', chatId: ids[0], messageId: ids[1], threadId };
  }
  if (first === 'm' && ids[0] && third === undefined) return { name: 'message', messageId: ids[0] };
  if (first === 'search' && second === undefined) {
    return {
      name: 'search',
      search: {
        query: searchParams.get('q') ?? '',
        chatId: Number(searchParams.get('chat')) || undefined,
        from: searchParams.get('from') ?? '',
        hasFile: searchParams.has('file'),
        before: searchParams.get('before') ?? '',
      },
    };
  }
  if (first === 'threads' && second === undefined) return { name: 'threads' };
  if (first === 'browse' && second === undefined) return { name: 'browse' };
  const section = settingsSections.find((name) => name === second);
  if (first === 'settings' && section && third === undefined) return { name: 'settings', section };
  const page = consolePages.find((name) => name === (second ?? 'webhooks'));
  if (first === 'console' && page && (third === undefined || consoleLists.includes(page)))
    return { name: 'console', page, id: third === undefined ? undefined : (ids[1] ?? 0), query: search };
  if (first === 'docs') return { name: 'docs', page: pathname.slice('/docs/'.length) };
  return undefined;
}

export const chatPath = (chatId: number, messageId?: number): string =>
  `/chats/${chatId}${messageId === undefined ? '' : `/${messageId}`}`;

/** Returns the path of a chat with a thread beside it. */
export const threadPath = (chatId: number, rootId: number): string => `${chatPath(chatId)}?thread=${rootId}`;

const here = (): Route => parseRoute(`${location.pathname}${location.search}`) ?? { name: 'home' };

export const route = signal<Route>({ name: 'home' });

/** Shows another path without loading the page. */
export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path);
  else if (path !== `${location.pathname}${location.search}`) history.pushState(null, '', path);
  route.value = here();
}

/** Follows the history of the browser and clicks on links to our own paths. */
export function startRouting(): void {
  route.value = here();
  addEventListener('popstate', () => {
    route.value = here();
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!isPlain || event.defaultPrevented || !link || link.origin !== location.origin || link.target === '_blank')
      return;
    const path = `${link.pathname}${link.search}`;
    if (!parseRoute(path)) return;
    event.preventDefault();
    navigate(path);
  });
}
