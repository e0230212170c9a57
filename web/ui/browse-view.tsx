/** @jsxImportSource preact */
import type { Chat } from '@parley-chat/sdk';
import { useCallback, useRef, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { useSession } from './context.ts';
import { startChat } from './dialogs.ts';
import { EmptyState } from './empty-state.tsx';
import { Icon } from './icon.tsx';
import { More } from './more.tsx';
import { useAct } from './notice.tsx';
import { Problem, useLoading } from './problem.tsx';
import { chatPath, navigate } from './route.ts';
import { useDelayed } from './use-delayed.ts';
import './pane.css';

const pageSize = 100;

interface Found {
  readonly channels: readonly Chat[];
  readonly hasMore: boolean;
}

/** The public channels, and which of them to join. */
export function BrowseView() {
  const { client, loader, store } = useSession();
  const act = useAct();
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<Found | undefined>(undefined);
  const asked = useDelayed(query.trim());
  const current = useRef(asked);
  current.current = asked;
  /** Adds a page to those before it. The server filters by name. */
  const loadAfter = useCallback(
    async (known: readonly Chat[]) => {
      const { chats, has_more } = await client.chats.list({
        scope: 'public',
        limit: pageSize,
        ...(asked !== '' && { query: asked }),
        ...(known.length > 0 && { after_id: known.at(-1)?.chat_id }),
      });
      if (current.current === asked) setFound({ channels: [...known, ...chats], hasMore: has_more });
    },
    [client, asked],
  );
  const load = useCallback(() => loadAfter([]), [loadAfter]);
  const loading = useLoading(text.browse.failed, load);
  const channels = found?.channels;
  const join = ({ chat_id }: Chat) =>
    act(text.browse.joinFailed, async () => {
      const { chat } = await client.chats.join({ chat_id });
      loader.putChat(chat);
      navigate(chatPath(chat_id));
    });
  return (
    <section class="pane" aria-label={text.common.browseChannels}>
      <header>
        <a class="icon-button back" href="/" aria-label={text.common.allChats}>
          <Icon name="back" />
        </a>
        <h1>{text.common.browseChannels}</h1>
      </header>
      <div class="field">
        <input
          type="search"
          aria-label={text.browse.find}
          placeholder={text.browse.find}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </div>
      <Problem words={loading.problem} onRetry={loading.again} />
      {channels?.length === 0 && <NoChannels query={asked} onClear={() => setQuery('')} />}
      <ul class="cards">
        {channels?.map((channel) => (
          <li key={channel.chat_id} class="card">
            <Avatar id={channel.chat_id} name={channel.name ?? ''} icon="channel" />
            <div>
              <h2>
                <bdi>{channel.name}</bdi>
              </h2>
              <p class="muted">
                {text.common.people(channel.participant_count)}
                {channel.description && ` · ${channel.description}`}
              </p>
            </div>
            {store.chat(channel.chat_id) ? (
              <a class="button quiet" href={chatPath(channel.chat_id)}>
                {text.browse.open}
              </a>
            ) : (
              <button type="button" class="button" onClick={() => join(channel)}>
                {text.browse.join}
              </button>
            )}
          </li>
        ))}
      </ul>
      {found?.hasMore && (
        <More key={found.channels.length} failed={text.browse.moreFailed} onMore={() => loadAfter(found.channels)} />
      )}
    </section>
  );
}

function NoChannels({ query, onClear }: { query: string; onClear: () => void }) {
  const create = (
    <button type="button" class={query === '' ? 'button' : 'button quiet'} onClick={() => startChat('channel')}>
      {text.browse.create}
    </button>
  );
  return query === '' ? (
    <EmptyState icon="channel" title={text.browse.none} actions={create}>
      {text.browse.noneHint}
    </EmptyState>
  ) : (
    <EmptyState
      icon="channel"
      title={text.browse.noneFound}
      actions={
        <>
          <button type="button" class="button" onClick={onClear}>
            {text.browse.showAll}
          </button>
          {create}
        </>
      }
    >
      {text.browse.noneFoundHint}
    </EmptyState>
  );
}
