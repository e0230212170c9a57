/** @jsxImportSource preact */
import type { ServiceStatus, Setting } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { useCallback, useId, useState } from 'preact/hooks';
import { fileSize } from '../../../lib/file-size.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { Problem, useLoading } from '../../problem.tsx';
import { navigate } from '../../route.ts';
import { CopyButton } from '../copy-button.tsx';
import { exactTime } from '../times.ts';
import { pathWith } from './list.tsx';
import { AdminTable } from './table.tsx';

const words = adminText.service;

/** Days that metrics are kept. No setting changes them. */
const metricDays = 2;

const otherPages = [
  ['/settings/service', words.pages.settings],
  ['/admin/users', words.pages.users],
] as const;

/** The version, the backups and the settings of the server. */
export function ServicePage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const [loaded, setLoaded] = useState<{ status: ServiceStatus; settings: readonly Setting[] } | undefined>(undefined);
  const load = useCallback(async () => {
    const [{ status }, { settings }] = await Promise.all([client.service.status({}), client.service.settings({})]);
    setLoaded({ status, settings });
  }, [client]);
  const loading = useLoading(words.failed, load);
  return (
    <div class="page">
      <header class="page-head">
        <h1>{words.title}</h1>
      </header>
      <Problem words={loading.problem} onRetry={loading.again} />
      {loaded && (
        <>
          <Backup status={loaded.status} />
          <Version status={loaded.status} />
          <Storage status={loaded.status} />
          <Retention settings={loaded.settings} />
          <Settings settings={loaded.settings} isShort={new URLSearchParams(query).has('set')} />
        </>
      )}
      <Block title={words.others}>
        <ul class="links">
          {otherPages.map(([href, label]) => (
            <li key={href}>
              <a href={href}>{label}</a>
            </li>
          ))}
        </ul>
      </Block>
    </div>
  );
}

interface BlockProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

function Block({ title, children }: BlockProps) {
  const id = useId();
  return (
    <section class="service-block" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

const Facts = ({ facts }: { readonly facts: readonly (readonly [label: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(([label, value]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

interface StatusProps {
  readonly status: ServiceStatus;
}

const Backup = ({ status: { last_backup, files, backup_command } }: StatusProps) => (
  <Block title={words.backup}>
    <Facts
      facts={[
        [
          words.lastBackup,
          last_backup === null
            ? words.noBackup
            : words.backupWas({
                at: exactTime(last_backup.at),
                what: words.backupOf({ ...last_backup, size: fileSize(last_backup.bytes) }),
              }),
        ],
      ]}
    />
    <p class="muted">{words.command}</p>
    <div class="command">
      <pre class="code">{backup_command}</pre>
      <CopyButton text={backup_command} label={words.copyCommand} />
    </div>
    {files === 's3' && <p class="bad">{words.bucketNote}</p>}
  </Block>
);

const Version = ({ status: { version, started_at } }: StatusProps) => (
  <Block title={words.version}>
    <Facts
      facts={[
        [words.running, version],
        [words.since, exactTime(started_at)],
      ]}
    />
    <h3>{words.upgrade}</h3>
    <ol class="steps">
      {words.upgradeSteps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
    <p class="muted">{words.upgradeNote}</p>
  </Block>
);

const Storage = ({ status }: StatusProps) => (
  <Block title={words.storage}>
    <Facts
      facts={[
        [
          words.database,
          words.databaseSize({ kind: words.databases[status.database], size: fileSize(status.database_bytes) }),
        ],
        [words.files, words.fileSize({ place: words.places[status.files], size: fileSize(status.file_bytes) })],
        [
          words.disk,
          words.diskSize({ free: fileSize(status.disk_free_bytes), total: fileSize(status.disk_total_bytes) }),
        ],
      ]}
    />
  </Block>
);

interface SettingsProps {
  readonly settings: readonly Setting[];
}

function Retention({ settings }: SettingsProps) {
  const facts = Object.entries(words.retained).flatMap(([name, label]) => {
    const value = settings.find((setting) => setting.name === name)?.value;
    if (value == null) return [];
    const span = (name.endsWith('_HOURS') ? words.hours : words.days)(Number(value));
    return [
      [
        label,
        <>
          {span} <code class="muted">{name}</code>
        </>,
      ] as const,
    ];
  });
  return (
    <Block title={words.retention}>
      <p class="muted">{words.retentionAbout}</p>
      <Facts facts={[...facts, [words.metrics, words.days(metricDays)]]} />
    </Block>
  );
}

function Settings({ settings, isShort }: SettingsProps & { readonly isShort: boolean }) {
  const shown = isShort ? settings.filter(({ source }) => source !== 'default') : settings;
  return (
    <Block title={words.settings}>
      <p class="muted">{words.settingsAbout}</p>
      <label class="check">
        <input
          type="checkbox"
          checked={isShort}
          onChange={(event) =>
            navigate(pathWith('/console/service', { set: event.currentTarget.checked ? '1' : '' }), { replace: true })
          }
        />
        {words.onlyChanged}
      </label>
      {shown.length === 0 && <p class="muted">{words.noneChanged}</p>}
      {shown.length > 0 && (
        <AdminTable
          label={words.settingsList}
          rows={shown}
          keyOf={({ name }) => name}
          columns={[
            {
              label: words.columns.name,
              kind: 'row-title',
              cell: ({ name, summary }) => (
                <>
                  <code>{name}</code>
                  <span class="muted summary">{summary.replaceAll('`', '')}</span>
                </>
              ),
            },
            { label: words.columns.value, cell: (setting) => <Value setting={setting} /> },
            { label: words.columns.source, cell: ({ source }) => words.sources[source] },
          ]}
        />
      )}
    </Block>
  );
}

function Value({ setting: { value, default: byDefault, source } }: { readonly setting: Setting }) {
  if (value === null) return <span class="muted">{words.hidden}</span>;
  return (
    <span class="setting-value">
      {value === '' ? <span class="muted">{words.unset}</span> : <code>{value}</code>}
      {source === 'environment' && value !== byDefault && byDefault !== '' && (
        <span class="muted">{words.byDefault(byDefault)}</span>
      )}
    </span>
  );
}
