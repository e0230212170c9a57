/** @jsxImportSource preact */
import type { MetricSample, ServiceStatus } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { fileSize } from '../../../lib/file-size.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { EmptyState } from '../../empty-state.tsx';
import { Problem, useLoading } from '../../problem.tsx';
import { PageHead } from '../page.tsx';
import { Chart } from './chart.tsx';
import { byHour, figureOf, metrics } from './metrics.ts';
import { AdminTable } from './table.tsx';

const words = adminText.overview;

const spans = [1, 6, 24, 48] as const;
const hourMs = 3_600_000;
const refreshMs = 30_000;

interface Loaded {
  readonly samples: readonly MetricSample[];
  readonly minutes: number;
  readonly status: ServiceStatus;
  readonly at: number;
}

/** The metrics of the last hours, and what an administrator should do about them. */
export function OverviewPage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const asked = Number(new URLSearchParams(query).get('hours'));
  const hours = spans.find((span) => span === asked) ?? 24;
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const load = useCallback(async () => {
    const [{ samples, interval_minutes }, { status }] = await Promise.all([
      client.service.history({ hours }),
      client.service.status({}),
    ]);
    setLoaded({ samples, minutes: interval_minutes, status, at: Date.now() });
  }, [client, hours]);
  const loading = useLoading(words.failed, load);
  const { run } = loading;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && run(load), refreshMs);
    return () => clearInterval(timer);
  }, [run, load]);
  return (
    <div class="page wide">
      <PageHead words={words}>
        <nav class="spans" aria-label={words.span}>
          {spans.map((span) => (
            <a
              key={span}
              href={span === 24 ? '/console/overview' : `/console/overview?hours=${span}`}
              aria-current={span === hours ? 'true' : undefined}
            >
              {words.spans(span)}
            </a>
          ))}
        </nav>
      </PageHead>
      <Problem words={loading.problem} onRetry={loading.again} />
      {loaded && <Attention loaded={loaded} />}
      {loaded?.samples.length === 0 && (
        <EmptyState icon="clock" title={words.empty}>
          {words.emptyHint}
        </EmptyState>
      )}
      {loaded && loaded.samples.length > 0 && <Charts loaded={loaded} hours={hours} />}
    </div>
  );
}

function Charts({ loaded: { samples, minutes, at }, hours }: { readonly loaded: Loaded; readonly hours: number }) {
  const [isTable, setTable] = useState(false);
  const from = at - hours * hourMs;
  return (
    <>
      <section class="charts">
        {metrics.map((metric) => (
          <Chart
            key={metric.label}
            metric={metric}
            figure={figureOf(metric, samples, minutes)}
            from={from}
            to={at}
            gapMs={minutes * 2.5 * 60_000}
            span={words.spans(hours)}
          />
        ))}
      </section>
      <div>
        <button type="button" class="button quiet" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          {words.asTable}
        </button>
      </div>
      {isTable && <Numbers samples={samples} />}
    </>
  );
}

const hourTime = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

const Numbers = ({ samples }: { readonly samples: readonly MetricSample[] }) => (
  <AdminTable
    label={words.tableLabel}
    rows={byHour(samples)}
    keyOf={({ at }) => at}
    columns={[
      { label: words.time, kind: 'row-title', cell: ({ at }) => hourTime.format(at) },
      ...metrics.map((metric, i) => ({
        label: metric.label,
        kind: 'number' as const,
        cell: ({ values }: ReturnType<typeof byHour>[number]) => {
          const value = values[i] ?? null;
          return value === null ? adminText.none : metric.format(value);
        },
      })),
    ]}
  />
);

/** A share of the disk below which there is little room. */
const lowShare = 0.1;
const backupDays = 7;
const largeBacklog = 1_000;

/** What an administrator should look at now. Nothing is shown if all is well. */
function Attention({ loaded: { samples, status, at } }: { readonly loaded: Loaded }) {
  const { last_backup, backup_failing, disk_free_bytes: free, disk_total_bytes: total } = status;
  const notes: ComponentChildren[] = [];
  if (backup_failing) notes.push(words.failedBackup());
  const days = last_backup && Math.floor((at - Date.parse(last_backup.at)) / (24 * hourMs));
  if (days === null) notes.push(words.noBackup());
  else if (days >= backupDays) notes.push(words.oldBackup(words.days(days)));
  if (free < total * lowShare) notes.push(words.lowDisk({ free: fileSize(free), total: fileSize(total) }));
  const errors = samples.reduce((sum, sample) => sum + sample.server_errors, 0);
  if (errors > 0) notes.push(words.errors(errors));
  const backlog = samples.at(-1)?.backlog ?? 0;
  if (backlog >= largeBacklog) notes.push(words.backlog(backlog));
  if (notes.length === 0) return null;
  return (
    <section class="attention" aria-label={words.attention}>
      <h2>{words.attention}</h2>
      <ul>
        {notes.map((note, i) => (
          <li key={i}>{note}</li>
        ))}
      </ul>
    </section>
  );
}
