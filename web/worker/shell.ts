import { isAway } from '../lib/away.ts';
import { parseRoute } from '../ui/route.ts';
import { shellPrefix } from './forget.ts';
import { type FetchEvent, scope } from './scope.ts';

/** Written by the server in front of this script: the files of its client, and the page that loads them. */
declare const parleyShell: { readonly version: string; readonly page: string; readonly files: readonly string[] };

const cacheName = shellPrefix + parleyShell.version;
const files: ReadonlySet<string> = new Set(parleyShell.files);

/** The first parts of the paths of pages for the account and for administration. Only the server has them. */
const accountPages: readonly string[] = ['access', 'admin', 'apps', 'bots', 'password', 'sessions', 'settings'];

/** A server that takes longer than this to respond with the page is away. */
const timeoutMs = 5_000;

const storedPage = (): Promise<Response | undefined> => caches.match(parleyShell.page, { ignoreVary: true });

/** Stores the shell, all of it or nothing. */
export async function storeShell(): Promise<void> {
  const cache = await caches.open(cacheName);
  // The names of the others change with their content.
  const isFixed = (path: string) => !path.startsWith('/assets/client/');
  const requests = [parleyShell.page, ...files].map(
    (path) => new Request(path, { cache: isFixed(path) ? 'reload' : 'default' }),
  );
  try {
    await cache.addAll(requests);
  } catch (error) {
    // The cache stays if an earlier worker has stored the same shell in it.
    if (!(await storedPage())) await caches.delete(cacheName);
    throw error;
  }
}

/** Stores the shell again if it is gone: browsers delete caches when the disk is full. */
export async function repairShell(): Promise<void> {
  if (!(await storedPage())) await storeShell();
}

/** Deletes the shells of earlier versions, except for the last one: its pages may be open, and load more parts of it. */
export async function dropOldShells(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(shellPrefix) && name !== cacheName);
  await Promise.all(shells.slice(0, -1).map((name) => caches.delete(name)));
}

/** Returns the response to pages and to the files of the client, and undefined for everything else: the API, forms, other files. */
export function respond({ request }: FetchEvent): Promise<Response> | undefined {
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== 'GET' || origin !== scope.location.origin) return undefined;
  if (request.mode !== 'navigate') return isFile(pathname) ? storedFile(request) : undefined;
  const isPage = parseRoute(`${pathname}${search}`) || accountPages.includes(pathname.split('/')[1] ?? '');
  return isPage ? pageOrShell(request) : undefined;
}

const isFile = (path: string): boolean => path.startsWith('/assets/client/') || files.has(path);

const storedFile = async (request: Request): Promise<Response> =>
  (await caches.match(request, { ignoreVary: true })) ?? fetch(request);

/**
 * The page of the server, which says who is signed in. If the server is away, the shell: it shows the client with what is stored
 * here, or at the path of an account page that the server does not respond.
 */
async function pageOrShell(request: Request): Promise<Response> {
  const fromServer = fetch(request);
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, timeoutMs));
  const response = await Promise.race([fromServer.catch(() => undefined), late]);
  if (response && !isAway(response)) return response;
  return (await storedPage()) ?? fromServer;
}
