/** @jsxImportSource preact */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { BrowseView } from './browse-view.tsx';
import { ChatList } from './chat-list.tsx';
import { ChatView } from './chat-view.tsx';
import { useSession } from './context.ts';
import { HelpDialog } from './help-dialog.tsx';
import { Icon, IconButton } from './icon.tsx';
import { NewChatDialog } from './new-chat-dialog.tsx';
import { chatPath, navigate, type Route, route } from './route.ts';
import { SearchView } from './search-view.tsx';
import { Switcher } from './switcher.tsx';
import { ThreadsLink, ThreadsView } from './threads-view.tsx';
import './app.css';

/** True once the server has a newer client than this one. */
export const isOutdated = signal(false);

type DialogName = 'new' | 'switcher' | 'help';

export function App() {
  const [dialog, setDialog] = useState<DialogName | undefined>(undefined);
  const close = () => setDialog(undefined);
  useGlobalKeys(setDialog);
  return (
    <div class={`app${route.value.name === 'home' ? ' at-home' : ''}`}>
      <aside class="sidebar">
        <SidebarHead onNew={() => setDialog('new')} />
        <ChatList />
        <Connection />
        <Account onHelp={() => setDialog('help')} />
      </aside>
      <main class="main">
        <View route={route.value} />
      </main>
      {dialog === 'new' && <NewChatDialog onClose={close} />}
      {dialog === 'switcher' && <Switcher onClose={close} />}
      {dialog === 'help' && <HelpDialog onClose={close} />}
    </div>
  );
}

function View({ route }: { route: Route }) {
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
    case 'home':
      return <Welcome />;
  }
}

function Welcome() {
  const { store } = useSession();
  return (
    <div class="nothing">
      <h1>Hello, {store.me.display_name}</h1>
      <p>Choose a chat, or press Ctrl K to find one.</p>
    </div>
  );
}

/** A link to a message leads to its chat. */
function MessageLink({ messageId }: { messageId: number }) {
  const { client } = useSession();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    client.messages.get({ message_id: messageId }).then(
      ({ message }) => navigate(chatPath(message.chat_id, message.message_id), { replace: true }),
      (error: Error) => setProblem(error.message),
    );
  }, [messageId, client]);
  return (
    <div class="nothing">
      <p>{problem}</p>
    </div>
  );
}

function SidebarHead({ onNew }: { onNew: () => void }) {
  const [text, setText] = useState('');
  return (
    <header class="sidebar-head">
      <div class="bar">
        <a class="brand" href="/">
          <img src="/assets/parley.svg" alt="" width="24" height="24" />
          Parley
        </a>
        <ThreadsLink />
        <a class="icon-button" href="/browse" aria-label="Browse channels" title="Browse channels">
          <Icon name="browse" />
        </a>
        <IconButton icon="plus" label="New chat" onClick={onNew} />
      </div>
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '') navigate(`/search?${new URLSearchParams({ q: text })}`);
          }}
        >
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search"
            placeholder="Search"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
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
      {isLost && <p class="lost">Reconnecting… Messages are sent when the server is back.</p>}
      {isOutdated.value && (
        <p>
          There is a new version.{' '}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      )}
    </div>
  );
}

function Account({ onHelp }: { onHelp: () => void }) {
  const { store, forget, report } = useSession();
  // The records of this browser go first. The form then ends the session.
  const signOut = async (form: HTMLFormElement) => {
    await forget().catch(report);
    form.submit();
  };
  return (
    <footer class="account">
      <a class="me" href="/settings">
        <Icon name="settings" />
        <bdi>{store.me.display_name}</bdi>
        <span class="unseen">Settings</span>
      </a>
      <button
        type="button"
        class="icon-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={onHelp}
      >
        <span aria-hidden="true">?</span>
      </button>
      <form
        method="post"
        action="/sign-out"
        onSubmit={(event) => {
          event.preventDefault();
          void signOut(event.currentTarget);
        }}
      >
        <button type="submit" class="icon-button" aria-label="Sign out" title="Sign out">
          <Icon name="signOut" />
        </button>
      </form>
    </footer>
  );
}

function useGlobalKeys(open: (dialog: DialogName) => void): void {
  const { store } = useSession();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey;
      const isField = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (isCommand && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('switcher');
      } else if (event.key === '?' && !isField && !isCommand) {
        open('help');
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
  }, [store, open]);
}
