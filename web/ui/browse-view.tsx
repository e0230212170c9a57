/** @jsxImportSource preact */
import type { Chat } from '@parley-chat/sdk';
import { useEffect, useState } from 'preact/hooks';
import { Avatar } from './avatar.tsx';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { chatPath, navigate } from './route.ts';
import './pane.css';

const searchDelayMs = 150;

/** The public channels, and which of them to join. */
export function BrowseView() {
  const { client, loader, store, report } = useSession();
  const [query, setQuery] = useState('');
  const [channels, setChannels] = useState<readonly Chat[] | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        const asked = query.trim() === '' ? {} : { query };
        client.chats
          .list({ scope: 'public', limit: 200, ...asked })
          .then(({ chats }) => isCurrent && setChannels(chats), report);
      },
      query === '' ? 0 : searchDelayMs,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, client, report]);
  const join = async ({ chat_id }: Chat) => {
    const { chat } = await client.chats.join({ chat_id });
    loader.putChat(chat);
    navigate(chatPath(chat_id));
  };
  return (
    <section class="pane" aria-label="Browse channels">
      <header>
        <a class="icon-button back" href="/" aria-label="All chats">
          <Icon name="back" />
        </a>
        <h1>Browse channels</h1>
      </header>
      <div class="field">
        <input
          type="search"
          aria-label="Find a channel"
          placeholder="Find a channel"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </div>
      {channels?.length === 0 && <p class="muted">There are no public channels here.</p>}
      <ul class="cards">
        {channels?.map((channel) => (
          <li key={channel.chat_id} class="card">
            <Avatar id={channel.chat_id} name={channel.name ?? ''} icon="channel" />
            <div>
              <h2>
                <bdi>{channel.name}</bdi>
              </h2>
              <p class="muted">
                {channel.participant_count} {channel.participant_count === 1 ? 'person' : 'people'}
                {channel.description && ` · ${channel.description}`}
              </p>
            </div>
            {store.chat(channel.chat_id) ? (
              <a class="button quiet" href={chatPath(channel.chat_id)}>
                Open
              </a>
            ) : (
              <button type="button" class="button" onClick={() => void join(channel).catch(report)}>
                Join
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
