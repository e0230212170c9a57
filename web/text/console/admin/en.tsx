/** @jsxImportSource preact */
import type { ChatUse, Setting } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { countsIn } from '../../shared/counts.ts';
import { en as places } from '../../shared/places/en.ts';
import { acts, type Facts, labelOf, type Piece } from './acts.ts';

const { number, decimal, plural } = countsIn('en');

const hours = (count: number) => plural(count, { one: '# hour', other: '# hours' });
const days = (count: number) => plural(count, { one: '# day', other: '# days' });

const messages = (count: number) => plural(count, { one: '# message', other: '# messages' });

const sources: Readonly<Record<Setting['source'], string>> = {
  default: 'Default',
  environment: 'Environment',
  file: 'Data folder',
};

const chatTypes: Readonly<Record<ChatUse['type'], string>> = { direct: 'Direct', group: 'Group', channel: 'Channel' };

/** Texts of administration, by page. The rules are those of `../../en.tsx`. */
export const en = {
  none: '–',
  number,
  onlyAdmins: 'Only administrators see this page',
  onlyAdminsHint: 'Ask an administrator of this service if you need something from it.',
  any: 'Any',

  overview: {
    title: places.overview,
    about: 'How the service does, from its own metrics. All servers count together.',
    failed: 'The metrics could not be loaded.',
    span: 'Span of time',
    spans: (count: number) => (count === 1 ? '1 hour' : hours(count)),
    empty: 'No metrics yet',
    emptyHint: 'The first ones come within a minute.',
    now: 'Now',
    at: ({ time, value }: { time: string; value: string }) => `${time}: ${value}`,
    charts: {
      messages: 'Messages',
      people_online: 'People online',
      streams: 'Open streams',
      requests: 'Requests',
      server_errors: 'Server errors',
      webhook_lag_ms: 'Webhook lag',
      backlog: 'Webhook backlog',
      disk: 'Disk',
    },
    abouts: {
      messages: 'Sent by people, bots and apps.',
      people_online: 'With an open client, but for those who hide it.',
      streams: 'Live connections of clients and bots.',
      requests: 'Calls and pages, without those that still run.',
      server_errors: 'Responses with a status of 500 and above. The log of the server has their reasons.',
      webhook_lag_ms: 'From an event to its first attempt, on average.',
      backlog: 'Deliveries that wait for an endpoint.',
      disk: 'Used on the disk of the data folder.',
    },
    /** The value in large type. */
    total: (count: number) => number(count),
    milliseconds: (ms: number) => (ms < 1_000 ? `${number(ms)} ms` : `${decimal(ms / 1_000)} s`),
    free: (size: string) => `${size} free`,
    rangeOfTotals: ({ most, minutes }: { most: string; minutes: number }) =>
      `in total, at most ${most} in ${number(minutes)} min`,
    range: ({ least, most }: { least: string; most: string }) => `between ${least} and ${most}`,
    rangeOfDisk: ({ used, total }: { used: string; total: string }) => `${used} of ${total} used`,
    noValue: 'none',
    /** What a chart shows, in words. */
    described: ({ label, value, range, span }: { label: string; value: string; range: string; span: string }) =>
      `${label} in the last ${span}: ${value}, ${range}.`,
    asTable: 'Show the numbers',
    tableLabel: 'Metrics by hour',
    time: 'Time',
    attention: 'Needs attention',
    failedBackup: () => (
      <>
        The last scheduled backup failed. Look for <code>background_job_failed</code> in the log of the server: it says
        why.
      </>
    ),
    noBackup: () => (
      <>
        No backup is known. <a href="/console/service">Make one</a>, and then one every day.
      </>
    ),
    oldBackup: (age: string) => (
      <>
        The last backup is {age} old. <a href="/console/service">Make one every day.</a>
      </>
    ),
    lowDisk: ({ free, total }: { free: string; total: string }) =>
      `Only ${free} of ${total} are free on the disk. Free some space, or use a larger disk.`,
    errors: (count: number) =>
      `The server failed ${plural(count, { one: 'once', other: '# times' })}. Look for the status in its log.`,
    backlog: (count: number) =>
      `${plural(count, { one: '# delivery waits', other: '# deliveries wait' })} for endpoints of webhooks. Their owners see why on the pages of their webhooks.`,
    days,
  },

  people: {
    title: places.people,
    about: 'Everybody with an account, and the bots.',
    query: 'Name',
    failed: 'The people could not be loaded.',
    empty: 'Nobody matches',
    emptyHint: 'Search for a part of a name or of a display name.',
    invite: 'Invite somebody',
    create: 'Create a user',
    list: 'People and bots',
    columns: { name: 'Name', kind: 'Kind', state: 'State', created: 'Created', actions: 'Actions' },
    administrator: 'Administrator',
    person: 'Person',
    bot: 'Bot',
    botOf: (owner: ComponentChildren) => <>Bot of {owner}</>,
    active: 'Active',
    disabled: 'Disabled',
    disable: 'Disable',
    enable: 'Enable',
    manage: 'Password and role',
    manageOf: (name: string) => `Password and role of ${name}`,
    disableOf: (name: string) => `Disable ${name}`,
    enableOf: (name: string) => `Enable ${name}`,
    history: 'Audit log',
    historyOf: (name: string) => `${name} in the audit log`,
    disableTitle: (name: string) => `Disable ${name}?`,
    disableAbout:
      'All sessions, access tokens, app authorizations, webhooks and bots end at once. Messages stay. Chats without another owner pass to another participant.',
    wasDisabled: (name: string) => `${name} is disabled.`,
    wasEnabled: (name: string) => `${name} is enabled. Access tokens and bots are not restored.`,
    enableFailed: 'The user was not enabled.',
    invitations: 'Open invitations',
    noInvitations: 'There are no open invitations.',
    invitationsFailed: 'The invitations could not be loaded.',
    noNote: 'Without a note',
    invited: ({ by, until }: { by: ComponentChildren; until: string }): ComponentChildren => (
      <>
        by {by}, works until {until}
      </>
    ),
    operator: 'the operator',
    withdraw: 'Withdraw',
    withdrawOf: (note: string) => `Withdraw the invitation ${note}`,
    withdrawn: 'The invitation is withdrawn. Its link no longer works.',
    withdrawFailed: 'The invitation was not withdrawn.',
  },

  storage: {
    title: 'Storage',
    about: 'What each person uses together with their bots, the largest use first. A day begins at 00:00 UTC.',
    failed: 'The use could not be loaded.',
    by: 'Order',
    list: 'Use by person',
    columns: {
      name: 'Name',
      file_bytes: 'Files',
      messages: 'Messages today',
      chats: 'Chats created',
      webhooks: 'Webhooks',
      bots: 'Bots',
    },
    limits: 'Limits of a person',
    noLimit: 'no limit',
    limit: ({ label, value }: { label: string; value: string }) => `${label}: ${value}`,
    all: ({ files, database }: { files: string; database: string }) =>
      `${files} of files and ${database} in the database`,
  },

  chats: {
    title: 'All chats',
    about: 'Every chat of the service. Administrators see here that a chat exists, and nothing of what is said in it.',
    failed: 'The chats could not be loaded.',
    query: 'Name',
    type: 'Type',
    types: chatTypes,
    public: 'public',
    list: 'Chats',
    empty: 'No chats match',
    emptyHint: 'Direct chats have no name, so a search by name does not find them.',
    columns: {
      name: 'Name',
      type: 'Type',
      people: 'People',
      messages: 'Messages',
      last: 'Last message',
      created: 'Created',
    },
    direct: 'Direct chat',
    number: (id: number) => `Chat ${id}`,
    atLeast: (count: number) => `${number(count)}+`,
    never: 'never',
  },

  audit: {
    title: places.audit,
    about: 'Who did what to accounts and access, the newest first.',
    failed: 'The audit log could not be loaded.',
    list: 'Entries',
    empty: 'No entries match',
    emptyHint: 'Choose another act, another person or a longer span of time.',
    filters: 'Filters',
    act: 'Act',
    user: 'Who',
    since: 'From',
    until: 'Until',
    clear: 'Clear filters',
    unknownUser: (name: string) => `Nobody has the name ${name}.`,
    operator: 'The operator',
    somebody: 'Somebody',
    userNumber: (id: number) => `user ${id}`,
    appNumber: (id: number) => `app ${id}`,
    withApp: (app: Piece): readonly Piece[] => [' With the app ', app, '.'],
    commandLine: 'command line',
    details: ', details',
    acts,
    labelOf,
    /** The sentence of an entry. An act of a newer server has only its name. */
    say: (act: string, facts: Facts): readonly Piece[] => acts[act]?.say(facts) ?? [facts.who, `: ${act}`],
    exportCsv: 'Export as CSV',
    exportJson: 'Export as JSON',
    exporting: (count: number) => `${plural(count, { one: '# entry', other: '# entries' })}…`,
    exported: (count: number) => `Exported ${plural(count, { one: '# entry', other: '# entries' })}.`,
    cancel: 'Cancel the export',
    /** The names of the columns of an export. Programs read them. */
    csv: ['time', 'act', 'sentence', 'user_id', 'user', 'app_id', 'app', 'address', 'details'],
  },

  service: {
    title: 'Service',
    failed: 'The state of the service could not be loaded.',
    version: 'Version',
    running: 'Parley',
    since: 'Running since',
    upgrade: 'Upgrade',
    upgradeSteps: [
      'Read what is new in CHANGELOG.md of the new version.',
      'Make a backup with the command above.',
      'Stop the server, install the new version in the way this one was installed, and start it. It changes the database by itself.',
    ],
    upgradeNote: 'An older version refuses a database of a newer one. The way back is the backup.',
    storage: 'Storage',
    database: 'Database',
    databases: { sqlite: 'SQLite', postgres: 'PostgreSQL' },
    databaseSize: ({ kind, size }: { kind: string; size: string }) => `${kind}, ${size}`,
    files: 'Files',
    fileSize: ({ place, size }: { place: string; size: string }) => `${size} in ${place}`,
    places: { data_folder: 'the data folder', s3: 'a bucket (S3)' },
    disk: 'Disk',
    diskSize: ({ free, total }: { free: string; total: string }) => `${free} of ${total} are free`,
    backup: 'Backup',
    lastBackup: 'Last backup',
    noBackup: 'None is known. Copies of the disk or of the database by other means are not known to the server.',
    backupWas: ({ at, what }: { at: string; what: string }) => `${at}: ${what}`,
    backupOf: ({
      messages: count,
      files,
      size,
      encrypted,
    }: {
      messages: number;
      files: number;
      size: string;
      encrypted: boolean;
    }) =>
      `${messages(count)} and ${plural(files, { one: '# file', other: '# files' })}, ${size}, ${encrypted ? 'encrypted' : 'not encrypted'}`,
    command: 'Run this on the machine of the server, in its folder and with its settings. The server may keep running.',
    copyCommand: 'Copy the command',
    bucketNote: 'Files in a bucket are not part of it. Back up the bucket too.',
    retention: 'Retention',
    retentionAbout: 'What is deleted by itself, and when. Messages are kept until somebody deletes them.',
    retained: {
      PARLEY_EVENT_DAYS: 'Events and deliveries',
      PARLEY_AUDIT_DAYS: 'Audit log',
      PARLEY_UPLOAD_HOURS: 'Unfinished uploads',
    } as Readonly<Record<string, string>>,
    metrics: 'Metrics',
    days,
    hours,
    settings: 'Settings',
    settingsAbout: 'They are environment variables. The server reads them when it starts.',
    onlyChanged: 'Only those that are set',
    noneChanged: 'None is set: all have their defaults.',
    settingsList: 'Settings',
    columns: { name: 'Setting', value: 'Value', source: 'Source' },
    sources,
    hidden: 'Set, and not shown',
    unset: 'none',
    byDefault: (value: string) => `by default ${value}`,
    others: 'Elsewhere',
    pages: {
      settings: 'Name of the service and welcome chat',
      users: 'Users, without scripts',
    },
  },
};
