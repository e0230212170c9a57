/** @jsxImportSource preact */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { ChatList, WaysToChat } from './chat-list.tsx';
import { ChatView } from './chat-view.tsx';
import { useSession } from './context.ts';
import { openDialog, startChat } from './dialogs.ts';
import { EmptyState } from './empty-state.tsx';
import { useFirstSteps } from './first-steps.tsx';
import { FirstSteps } from './first-steps-loader.tsx';
import { Icon, IconButton } from './icon.tsx';
import { FailedDialog, later } from './later.tsx';
import { isNarrow } from './narrow.ts';
import { Notice, useAct } from './notice.tsx';
import { type ConsoleRoute, chatPath, type DocsRoute, navigate, type Route, route } from './route.ts';
import { ThreadsLink } from './threads-link.tsx';
import './app.css';
// The styles of the parts that come later.
import './console/access/access.css';
import './console/admin/admin.css';
import './console/console.css';
import './console/deliveries.css';
import './console/dialogs.css';
import './console/events.css';
import './docs/docs.css';
import './help-dialog.css';
import './hooks-dialog.css';
import './invite-dialog.css';
import './lightbox.css';
import './pane.css';
import './search-view.css';
import './settings/appearance-settings.css';
import './settings/profile-settings.css';
import './settings/settings.css';

const AppDialog = later(async () => (await import('./parts.ts')).AppDialog, FailedDialog);
const BrowseView = later(async () => (await import('./parts.ts')).BrowseView);
const SearchView = later(async () => (await import('./parts.ts')).SearchView);
const SettingsView = later(async () => (await import('./parts.ts')).SettingsView);
const ConsoleView = later(async () => (await import('./console/index.ts')).ConsoleView, undefined, true);
const DocsView = later(async () => (await import('./docs/index.ts')).DocsView, undefined, true);
const SignOutDialog = later(async () => (await import('./parts.ts')).SignOutDialog, FailedDialog);
const MessageLink = later(async () => (await import('./parts.ts')).MessageLink);
const ThreadsView = later(async () => (await import('./parts.ts')).ThreadsView);

/** True once the server has a newer client than this one. */
export const isOutdated = signal(false);

export function App() {
  const dialog = openDialog.value;
  const close = () => {
    openDialog.value = undefined;
  };
  useGlobalKeys();
  const here = route.value;
  return (
    <div class={`app at-${here.name}`}>
      {here.name === 'console' ? (
        <ConsoleView route={here} />
      ) : here.name === 'docs' ? (
        <DocsView route={here} />
      ) : (
        <>
          <aside class="sidebar">
            <SidebarHead />
            <ChatList>{isNarrow.value && here.name === 'home' && <FirstSteps />}</ChatList>
            <Connection />
            <Account />
          </aside>
          <main class="main">
            <View route={here} />
          </main>
        </>
      )}
      <Notice />
      {dialog && <AppDialog key={dialog.name} dialog={dialog} onClose={close} />}
    </div>
  );
}

function View({ route }: { route: Exclude<Route, ConsoleRoute | DocsRoute> }) {
  switch (route.name) {
    case 'chat':
      return (
        <ChatView key={route.chatId} chatId={route.chatId} messageId={route.messageId} threadId={route.threadId} />
      );
    case 'message':
      return <MessageLink messageId={route.messageId} />;
    case 'search':
      return <SearchView search={route.search} />;
    case 'threads':
      return <ThreadsView />;
    case 'browse':
      return <BrowseView />;
    case 'settings':
      return <SettingsView section={route.section} />;
    case 'home':
      return <Welcome />;
  }
}

/** One thing to do next: the first steps of an administrator, or a chat. On a phone the list of chats has it. */
function Welcome() {
  const { store } = useSession();
  const steps = useFirstSteps();
  const title = text.welcome.hello(store.self.value.display_name);
  if (isNarrow.value) return <h1>{title}</h1>;
  const isNew = store.isReady.value && store.chats.value.size === 0;
  return (
    <div class="welcome">
      <EmptyState icon="thread" level={1} title={title} {...(!steps && { actions: <WaysToChat /> })}>
        {steps ? text.welcome.setUp : isNew ? text.welcome.firstChat : text.welcome.chooseChat()}
      </EmptyState>
      <FirstSteps />
    </div>
  );
}

function SidebarHead() {
  const { store } = useSession();
  const [query, setQuery] = useState('');
  return (
    <header class="sidebar-head">
      <div class="bar">
        <a class="brand" href="/">
          <img src="/assets/parley.svg" alt="" width="24" height="24" />
          <bdi>{store.serviceName.value}</bdi>
        </a>
        <ThreadsLink />
        <a
          class="icon-button"
          href="/browse"
          aria-label={text.common.browseChannels}
          title={text.common.browseChannels}
        >
          <Icon name="browse" />
        </a>
        <IconButton icon="plus" label={text.sidebar.newChat} onClick={() => startChat()} />
      </div>
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (query.trim() !== '') navigate(`/search?${new URLSearchParams({ q: query })}`);
          }}
        >
          <Icon name="search" />
          <input
            type="search"
            aria-label={text.sidebar.search}
            placeholder={text.sidebar.search}
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </form>
      </search>
    </header>
  );
}

/** Says that the connection is lost, or that there is a new version. It is quiet about short breaks. */
function Connection() {
  const { store } = useSession();
  const isLost = store.connection.value === 'lost';
  return (
    <div role="status" class="connection">
      {isLost && <p class="lost">{text.sidebar.lost}</p>}
      {isOutdated.value && (
        <p>
          {text.sidebar.outdated}{' '}
          <button type="button" onClick={() => location.reload()}>
            {text.sidebar.reload}
          </button>
        </p>
      )}
    </div>
  );
}

function Account() {
  const { store, outbox, signOut } = useSession();
  const act = useAct();
  const [unsent, setUnsent] = useState(0);
  const leave = () => act(text.signOut.failed, signOut);
  const { user_id, display_name } = store.self.value;
  return (
    <footer class="account">
      <a class="me" href="/settings/profile">
        <Avatar id={user_id} name={display_name} isSmall />
        <bdi>{display_name}</bdi>
        <Icon name="settings" />
        <span class="unseen">{text.sidebar.settings}</span>
      </a>
      {store.me.is_admin && (
        <IconButton
          icon="invite"
          label={text.sidebar.invite}
          onClick={() => {
            openDialog.value = { name: 'invite' };
          }}
        />
      )}
      <button
        type="button"
        class="icon-button"
        aria-label={text.sidebar.shortcuts}
        title={text.sidebar.shortcuts}
        onClick={() => {
          openDialog.value = { name: 'help' };
        }}
      >
        <span aria-hidden="true">?</span>
      </button>
      <IconButton
        icon="signOut"
        label={text.sidebar.signOut}
        onClick={() => {
          const { length } = outbox.items.value;
          if (length === 0) leave();
          else setUnsent(length);
        }}
      />
      {unsent > 0 && <SignOutDialog unsent={unsent} onClose={() => setUnsent(0)} onSignOut={leave} />}
    </footer>
  );
}

function useGlobalKeys(): void {
  const { store } = useSession();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey;
      const isField = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (isCommand && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openDialog.value = { name: 'switcher' };
      } else if (event.key === '?' && !isField && !isCommand) {
        openDialog.value = { name: 'help' };
      } else if (event.altKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
        event.preventDefault();
        const chats = store.byActivity.peek();
        const now = route.peek();
        const at = chats.findIndex(({ chat_id }) => now.name === 'chat' && chat_id === now.chatId);
        const next = chats[at + (event.key === 'ArrowDown' ? 1 : -1)];
        if (next) navigate(chatPath(next.chat_id));
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [store]);
}
