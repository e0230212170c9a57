/** @jsxImportSource preact */
import { ApiError, type ErrorCode } from '@parley-chat/sdk';
import type { AuditEntry } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import type { Piece } from '../../../text/console/admin/acts.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { EmptyState } from '../../empty-state.tsx';
import { Problem } from '../../problem.tsx';
import { navigate } from '../../route.ts';
import { isoOf, localOf } from '../filters.ts';
import { PageHead } from '../page.tsx';
import { exactTime, secondsTime } from '../times.ts';
import { type AuditFilters, inputOf, type Names, namesOf, readFilters, sentenceOf } from './audit-entry.ts';
import { ExportButtons } from './export-buttons.tsx';
import { anyChoice, Choice, ListEnd, pathWith, SearchField } from './list.tsx';
import { type RowPage, useRows } from './pages.ts';

const words = adminText.audit;

const path = '/console/audit';

/** The codes for a name that nobody has, or can have. */
const noUser: ReadonlySet<ErrorCode> = new Set(['not_found', 'validation_failed']);

/** An entry with the names that it refers to. */
interface NamedEntry {
  readonly entry: AuditEntry;
  readonly names: Names;
}

/** The audit log as sentences. */
export function AuditPage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const filters = readFilters(query);
  const { act, user, since, until } = filters;
  const [unknown, setUnknown] = useState('');
  const load = useCallback(
    async (before_id: number | undefined): Promise<RowPage<NamedEntry, number>> => {
      const page = await client.service
        .audit({ ...inputOf({ act, user, since, until }), ...(before_id !== undefined && { before_id }) })
        .catch((error: unknown) => {
          if (user !== '' && error instanceof ApiError && noUser.has(error.code)) return undefined;
          throw error;
        });
      setUnknown(page ? '' : user);
      if (!page) return { rows: [], next: undefined };
      const names = namesOf(page);
      return {
        rows: page.entries.map((entry) => ({ entry, names })),
        next: page.has_more ? page.entries.at(-1)?.audit_id : undefined,
      };
    },
    [client, act, user, since, until],
  );
  const { rows, more, loading } = useRows(words.failed, load);
  const pathOf = (changed: Partial<AuditFilters>) => pathWith(path, { ...filters, ...changed });
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <div class="page">
      <PageHead words={words}>
        <ExportButtons input={inputOf(filters)} />
      </PageHead>
      <fieldset class="filters is-open">
        <legend class="unseen">{words.filters}</legend>
        <Choice
          label={words.act}
          value={act}
          values={[anyChoice, ...Object.keys(words.acts).map((name) => [name, words.labelOf(name)] as const)]}
          pathOf={(value) => pathOf({ act: value })}
        />
        <SearchField label={words.user} value={user} pathOf={(value) => pathOf({ user: value })} />
        <Time label={words.since} value={since} pathOf={(value) => pathOf({ since: value })} />
        <Time label={words.until} value={until} pathOf={(value) => pathOf({ until: value })} />
        {isFiltered && (
          <a class="button quiet" href={path}>
            {words.clear}
          </a>
        )}
      </fieldset>
      <Problem words={loading.problem} onRetry={loading.again} />
      {rows?.length === 0 && (
        <EmptyState icon="search" title={words.empty}>
          {unknown === '' ? words.emptyHint : words.unknownUser(unknown)}
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <ul class="audit" aria-label={words.list}>
          {rows.map(({ entry, names }) => (
            <Entry key={entry.audit_id} entry={entry} names={names} />
          ))}
        </ul>
      )}
      <ListEnd failed={words.failed} more={more} />
    </div>
  );
}

function Entry({ entry, names }: NamedEntry) {
  const { at, address, details } = entry;
  const from = (
    <>
      <time dateTime={at} title={exactTime(at)}>
        {secondsTime(at)}
      </time>
      {' · '}
      {address === null ? words.commandLine : <bdi>{address}</bdi>}
    </>
  );
  const facts = Object.entries(details).filter(([, value]) => value !== null && value !== '');
  return (
    <li>
      <p class="sentence">
        {sentenceOf(entry, names).map((piece, i) => (
          <PieceOf key={i} piece={piece} />
        ))}
      </p>
      {facts.length === 0 && <p class="muted">{from}</p>}
      {facts.length > 0 && (
        <details>
          <summary>
            {from}
            <span class="unseen">{words.details}</span>
          </summary>
          <dl class="facts">
            {facts.map(([key, value]) => (
              <div key={key}>
                <dt>
                  <code>{key}</code>
                </dt>
                <dd>
                  <bdi>{Array.isArray(value) ? value.join(', ') : String(value)}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

function PieceOf({ piece }: { readonly piece: Piece }) {
  if (typeof piece === 'string') return <>{piece}</>;
  if (piece.of === 'text') return <bdi>{piece.name}</bdi>;
  if (piece.of === 'user' && piece.id !== undefined) {
    return (
      <a href={pathWith('/console/people', { q: piece.name })}>
        <bdi>{piece.name}</bdi>
      </a>
    );
  }
  return (
    <strong>
      <bdi>{piece.name}</bdi>
    </strong>
  );
}

interface TimeProps {
  readonly label: string;
  readonly value: string;
  readonly pathOf: (value: string) => string;
}

const Time = ({ label, value, pathOf }: TimeProps) => (
  <label class="field time-field">
    <span>{label}</span>
    <input
      type="datetime-local"
      value={localOf(value || undefined)}
      onChange={(event) => navigate(pathOf(isoOf(event.currentTarget.value) ?? ''))}
    />
  </label>
);
