/** @jsxImportSource preact */
import type { ChatUse } from '@parley-chat/sdk/operations.ts';
import { useCallback } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { EmptyState } from '../../empty-state.tsx';
import { Problem } from '../../problem.tsx';
import { chatPath } from '../../route.ts';
import { PageHead } from '../page.tsx';
import { anyChoice, Choice, ListEnd, pathWith, SearchField } from './list.tsx';
import { type RowPage, useRows } from './pages.ts';
import { AdminTable, Day } from './table.tsx';

const words = adminText.chats;

/** The server counts messages up to here. */
const maxCount = 1_000;

const types = Object.keys(words.types) as ChatUse['type'][];

/** Every chat of the service, without what is said in it. */
export function ChatsPage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const values = new URLSearchParams(query);
  const name = values.get('q') ?? '';
  const type = types.find((one) => one === values.get('type'));
  const pathOf = (changed: { q?: string; type?: string }) =>
    pathWith('/console/chats', { q: name, type: type ?? '', ...changed });
  const load = useCallback(
    async (before_id: number | undefined): Promise<RowPage<ChatUse, number>> => {
      const { chats, has_more } = await client.service.chats({
        ...(name !== '' && { query: name }),
        ...(type && { type }),
        ...(before_id !== undefined && { before_id }),
      });
      return { rows: chats, next: has_more ? chats.at(-1)?.chat_id : undefined };
    },
    [client, name, type],
  );
  const { rows, more, loading } = useRows(words.failed, load);
  return (
    <div class="page wide">
      <PageHead words={words} />
      <div class="filters is-open">
        <SearchField label={words.query} value={name} pathOf={(q) => pathOf({ q })} />
        <Choice
          label={words.type}
          value={type ?? ''}
          values={[anyChoice, ...types.map((one) => [one, words.types[one]] as const)]}
          pathOf={(value) => pathOf({ type: value })}
        />
      </div>
      <Problem words={loading.problem} onRetry={loading.again} />
      {rows?.length === 0 && (
        <EmptyState icon="thread" title={words.empty}>
          {words.emptyHint}
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <AdminTable
          label={words.list}
          rows={rows}
          keyOf={({ chat_id }) => chat_id}
          columns={[
            { label: words.columns.name, kind: 'row-title', cell: (chat) => <ChatName chat={chat} /> },
            {
              label: words.columns.type,
              cell: ({ type, visibility }) => (
                <>
                  {words.types[type]} {visibility === 'public' && <span class="muted">{words.public}</span>}
                </>
              ),
            },
            {
              label: words.columns.people,
              kind: 'number',
              cell: ({ participant_count }) => adminText.number(participant_count),
            },
            {
              label: words.columns.messages,
              kind: 'number',
              cell: ({ message_count: count }) => (count >= maxCount ? words.atLeast(count) : adminText.number(count)),
            },
            {
              label: words.columns.last,
              cell: ({ last_message_at: at }) => (at === null ? words.never : <Day at={at} />),
            },
            { label: words.columns.created, cell: ({ created_at }) => <Day at={created_at} /> },
          ]}
        />
      )}
      <ListEnd failed={words.failed} more={more} />
    </div>
  );
}

/** The name of a chat. It is a link for those who are in it. */
function ChatName({ chat: { chat_id, name } }: { readonly chat: ChatUse }) {
  const { store } = useSession();
  const label = <bdi>{name ?? words.direct}</bdi>;
  return (
    <>
      {store.chat(chat_id) ? <a href={chatPath(chat_id)}>{label}</a> : <strong>{label}</strong>}{' '}
      <span class="muted">{words.number(chat_id)}</span>
    </>
  );
}
