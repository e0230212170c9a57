/** @jsxImportSource preact */
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Icon } from '../icon.tsx';
import type { ConsoleRoute } from '../route.ts';
import { EventsPage } from './events-page.tsx';
import { SignaturesPage } from './signatures-page.tsx';
import { WebhookPage } from './webhook-page.tsx';
import { WebhooksPage } from './webhooks-page.tsx';

const words = consoleText.navigation;

const pages = [
  ['webhooks', '/console/webhooks'],
  ['events', '/console/events'],
  ['signatures', '/console/signatures'],
] as const;

/** The API reference, and pages of the server that belong to the same work. */
const otherPages = [
  ['/docs', words.others.docs],
  ['/access', words.others.tokens],
  ['/apps', words.others.apps],
] as const;

/** The frame of the console: its navigation, and one page. */
export function ConsoleView({ route }: { route: ConsoleRoute }) {
  const { store } = useSession();
  const others = store.me.is_admin ? [...otherPages, ['/admin/users', words.others.administration]] : otherPages;
  return (
    <>
      <header class="console-side">
        <a class="to-chats" href="/">
          <Icon name="back" />
          {words.chats}
        </a>
        <nav aria-label={words.label}>
          <ul>
            {pages.map(([page, href]) => (
              <li key={page}>
                <a href={href} aria-current={page === route.page ? 'page' : undefined}>
                  {words.pages[page]}
                </a>
              </li>
            ))}
          </ul>
          <ul class="others">
            {others.map(([href, label]) => (
              <li key={href}>
                <a href={href}>{label}</a>
              </li>
            ))}
          </ul>
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

function Page({ route: { page, id, query } }: { route: ConsoleRoute }) {
  if (page === 'events') return <EventsPage query={query} />;
  if (page === 'signatures') return <SignaturesPage query={query} />;
  return id === undefined ? <WebhooksPage /> : <WebhookPage key={id} webhookId={id} query={query} />;
}
