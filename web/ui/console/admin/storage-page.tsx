/** @jsxImportSource preact */
import type { PersonUse, ServiceStatus, Setting } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { fileSize } from '../../../lib/file-size.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { Problem, useLoading } from '../../problem.tsx';
import { Pill } from '../health.tsx';
import { PageHead } from '../page.tsx';
import { Choice, ListEnd, pathWith } from './list.tsx';
import { type RowPage, useRows } from './pages.ts';
import { AdminTable } from './table.tsx';

const words = adminText.storage;

const uses = ['file_bytes', 'messages', 'chats', 'webhooks', 'bots'] as const;
type Use = (typeof uses)[number];

/** The settings that limit a person. */
const limits: Readonly<Record<Use, string>> = {
  file_bytes: 'PARLEY_FILE_BYTES_PER_PERSON',
  messages: 'PARLEY_MESSAGES_PER_DAY',
  chats: 'PARLEY_CHATS_PER_PERSON',
  webhooks: 'PARLEY_WEBHOOK_LIMIT',
  bots: 'PARLEY_BOTS_PER_PERSON',
};

const format = (use: Use, value: number): string => (use === 'file_bytes' ? fileSize(value) : adminText.number(value));

/** What each person uses, and how much they may. */
export function StoragePage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const asked = new URLSearchParams(query).get('by');
  const by = uses.find((use) => use === asked) ?? 'file_bytes';
  const [frame, setFrame] = useState<{ status: ServiceStatus; settings: readonly Setting[] } | undefined>(undefined);
  const loadFrame = useCallback(async () => {
    const [{ status }, { settings }] = await Promise.all([client.service.status({}), client.service.settings({})]);
    setFrame({ status, settings });
  }, [client]);
  const framing = useLoading(words.failed, loadFrame);
  const load = useCallback(
    async (after: string | undefined): Promise<RowPage<PersonUse, string>> => {
      const { people, next } = await client.service.use({ by, ...(after !== undefined && { after }) });
      return { rows: people, next: next ?? undefined };
    },
    [client, by],
  );
  const { rows, more, loading } = useRows(words.failed, load);
  const largest = Math.max(1, ...(rows ?? []).map((person) => person[by]));
  return (
    <div class="page wide">
      <PageHead words={words}>
        {frame && (
          <p class="value">
            {words.all({ files: fileSize(frame.status.file_bytes), database: fileSize(frame.status.database_bytes) })}
          </p>
        )}
      </PageHead>
      {frame && <Limits settings={frame.settings} />}
      <div class="filters is-open">
        <Choice
          label={words.by}
          value={by}
          values={uses.map((use) => [use, words.columns[use]])}
          pathOf={(value) => pathWith('/console/storage', { by: value === 'file_bytes' ? '' : value })}
        />
      </div>
      <Problem words={loading.problem || framing.problem} onRetry={loading.problem ? loading.again : framing.again} />
      {rows && (
        <AdminTable
          label={words.list}
          rows={rows}
          keyOf={({ user_id }) => user_id}
          columns={[
            {
              label: words.columns.name,
              kind: 'row-title',
              cell: (person) => (
                <span class="used">
                  <a href={`/admin/users/${person.user_id}`}>
                    <bdi>{person.name}</bdi>
                  </a>{' '}
                  {person.disabled_at !== null && <Pill kind="disabled">{adminText.people.disabled}</Pill>}
                  <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                    <rect width={(person[by] / largest) * 100} height="1" />
                  </svg>
                </span>
              ),
            },
            ...uses.map((use) => ({
              label: words.columns[use],
              kind: 'number' as const,
              cell: (person: PersonUse) => format(use, person[use]),
            })),
          ]}
        />
      )}
      <ListEnd failed={words.failed} more={more} />
    </div>
  );
}

function Limits({ settings }: { readonly settings: readonly Setting[] }) {
  const limitOf = (use: Use): string => {
    const value = settings.find(({ name }) => name === limits[use])?.value ?? '';
    const limit = Number(value);
    return Number.isFinite(limit) && limit > 0 ? format(use, limit) : words.noLimit;
  };
  return (
    <section class="limits" aria-label={words.limits}>
      <h2>{words.limits}</h2>
      <ul>
        {uses.map((use) => (
          <li key={use}>{words.limit({ label: words.columns[use], value: limitOf(use) })}</li>
        ))}
      </ul>
    </section>
  );
}
