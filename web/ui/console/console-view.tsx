/** @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Icon } from '../icon.tsx';
import { later } from '../later.tsx';
import { usePageTitle } from '../page-title.ts';
import type { AdminPage, ConsoleRoute } from '../route.ts';
import { AppPage } from './access/app-page.tsx';
import { AppsPage } from './access/apps-page.tsx';
import { BotPage } from './access/bot-page.tsx';
import { BotsPage } from './access/bots-page.tsx';
import { TokensPage } from './access/tokens-page.tsx';
import { EventsPage } from './events-page.tsx';
import { MissingPage } from './page.tsx';
import { SignaturesPage } from './signatures-page.tsx';
import { WebhookPage } from './webhook-page.tsx';
import { WebhooksPage } from './webhooks-page.tsx';

const words = consoleText.navigation;

const pages = ['webhooks', 'events', 'signatures', 'tokens', 'bots', 'apps'] as const;

const adminPages: readonly AdminPage[] = ['overview', 'people', 'storage', 'chats', 'audit', 'service'];
const isAdminPage = (page: ConsoleRoute['page']): page is AdminPage => adminPages.some((name) => name === page);

const AdminView = later(async () => (await import('./admin/index.ts')).AdminView, undefined, true);

const titleOf = ({ page, id }: ConsoleRoute): string =>
  id === undefined || id === 0 ? words.pages[page] : words.onePage({ page: words.pages[page], id });

/** The frame of the console: its navigation, and one page. */
export function ConsoleView({ route }: { route: ConsoleRoute }) {
  const { store } = useSession();
  usePageTitle(titleOf(route));
  const navigation = useRef<HTMLElement>(null);
  // On a phone the pages are in one line, which has no room for all of them.
  useEffect(() => {
    navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [route.page]);
  return (
    <>
      <header class="console-side">
        <a class="to-chats" href="/">
          <Icon name="back" />
          {words.chats}
        </a>
        <nav aria-label={words.label} ref={navigation}>
          <ul>
            {pages.map((page) => (
              <li key={page}>
                <a href={`/console/${page}`} aria-current={page === route.page ? 'page' : undefined}>
                  {words.pages[page]}
                </a>
              </li>
            ))}
            <li>
              <a href="/docs">{words.docs}</a>
            </li>
          </ul>
          {store.me.is_admin && (
            <>
              <h2 id="administration">{words.administration}</h2>
              <ul aria-labelledby="administration">
                {adminPages.map((page) => (
                  <li key={page}>
                    <a href={`/console/${page}`} aria-current={page === route.page ? 'page' : undefined}>
                      {words.pages[page]}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          )}
        </nav>
        <p role="status" class="muted">
          {store.connection.value === 'lost' && consoleText.lost}
        </p>
      </header>
      <main class="console">
        <Page route={route} />
      </main>
    </>
  );
}

/** What is said if the path has no id. */
const missing = { webhooks: consoleText.webhook, bots: consoleText.bots, apps: consoleText.apps };

function Page({ route: { page, id, query } }: { route: ConsoleRoute }) {
  if (id === 0 && Object.hasOwn(missing, page))
    return <MissingPage words={missing[page as keyof typeof missing]} href={`/console/${page}`} />;
  if (isAdminPage(page)) return <AdminView page={page} query={query} />;
  if (page === 'events') return <EventsPage query={query} />;
  if (page === 'signatures') return <SignaturesPage query={query} />;
  if (page === 'tokens') return <TokensPage />;
  if (page === 'bots') return id === undefined ? <BotsPage /> : <BotPage key={id} botId={id} />;
  if (page === 'apps') return id === undefined ? <AppsPage /> : <AppPage key={id} appId={id} />;
  return id === undefined ? <WebhooksPage /> : <WebhookPage key={id} webhookId={id} query={query} />;
}
