/** @jsxImportSource preact */
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { route } from './route.ts';
import './threads-view.css';

/** The link to the threads of the user, with the number of those that have unread replies. */
export function ThreadsLink() {
  const { store } = useSession();
  const unread = store.unreadThreads.value;
  const label = unread === 0 ? text.threads.title : text.threads.unread(unread);
  return (
    <a
      class="icon-button threads-link"
      href="/threads"
      aria-label={label}
      title={label}
      aria-current={route.value.name === 'threads' ? 'page' : undefined}
    >
      <Icon name="thread" />
      {unread > 0 && <span class="badge">{text.threads.unreadCount(unread)}</span>}
    </a>
  );
}
