import { describe, expect, test } from 'bun:test';
import { acts as serverActs } from '@parley/server/auth/acts.ts';
import type { AuditEntry, MetricSample } from '@parley-chat/sdk/operations.ts';
import { acts } from '../text/console/admin/acts.ts';
import { namesOf, readFilters, sentenceOf, textOf } from '../ui/console/admin/audit-entry.ts';
import { AuditWriter, csvCell } from '../ui/console/admin/audit-export.ts';
import { nearest, shapeOf } from '../ui/console/admin/chart-shape.ts';
import { byHour, figureOf, metrics } from '../ui/console/admin/metrics.ts';
import { parseRoute } from '../ui/route.ts';
import { parseCsv } from './csv.ts';

const at = '2026-01-10T12:00:00.000Z';
const names = {
  users: [
    { user_id: 1, name: 'ada' },
    { user_id: 2, name: 'bob' },
  ],
  apps: [{ app_id: 7, name: 'Calendar' }],
};

const entry = (act: string, details: AuditEntry['details'] = {}, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ audit_id: 1, at, act, user_id: 1, app_id: null, address: '10.0.0.1' },
  ...more,
  details,
});

const said = (one: AuditEntry) => textOf(sentenceOf(one, namesOf(names)));

describe('the audit log in sentences', () => {
  test('has words for every act of the server, and for no other', () => {
    expect(Object.keys(acts).sort()).toEqual(Object.keys(serverActs).sort());
  });

  test('says who did what to whom', () => {
    expect(said(entry('user_disabled', { user_id: 2, name: 'bob' }))).toBe('ada disabled bob.');
    expect(said(entry('signed_in', { known_device: true }))).toBe('ada signed in.');
    expect(said(entry('signed_in', { known_device: false }))).toBe('ada signed in with a new browser.');
    expect(said(entry('sign_in_failed', { known_user: false }, { user_id: null }))).toBe(
      'Somebody failed to sign in with a name that nobody has.',
    );
    expect(said(entry('administrator_changed', { user_id: 1, is_admin: false }))).toBe(
      'ada stepped down as an administrator.',
    );
    expect(said(entry('token_created', { token_id: 4, name: 'CI', user_id: 1 }))).toBe(
      'ada created the access token “CI”.',
    );
    const operator = { user_id: null, address: null };
    expect(said(entry('token_created', { name: 'CI', user_id: 2 }, operator))).toBe(
      'The operator created the access token “CI” for bob.',
    );
    expect(said(entry('backup_made', { messages: 1, files: 2, bytes: 2_048, encrypted: true }, operator))).toBe(
      'The operator made an encrypted backup of 1 message and 2 files: 2.0 KB.',
    );
    expect(said(entry('role_changed', { chat_id: 5, user_id: 2, role: 'admin', previous_role: 'member' }))).toBe(
      'ada changed the role of bob in chat 5 from member to administrator.',
    );
    expect(said(entry('access_granted', { app_id: 7, name: 'Calendar' }))).toBe('ada authorized the app Calendar.');
    expect(said(entry('user_created', { user_id: 99 }, { app_id: 7 }))).toBe(
      'ada created the user user 99. With the app Calendar.',
    );
    expect(said(entry('something_new'))).toBe('ada: something_new');
  });

  test('has a sentence for every act without any details', () => {
    for (const act of Object.keys(acts)) expect(said(entry(act))).toMatch(/^\S.*\.$/);
  });
});

describe('an export', () => {
  const write = (format: 'csv' | 'json', pages: readonly AuditEntry[][]) => {
    let text = '';
    const writer = new AuditWriter(format, (more) => {
      text += more;
    });
    for (const entries of pages) writer.add({ ...names, entries });
    writer.end();
    expect(writer.count).toBe(pages.flat().length);
    return text;
  };
  const hostile = entry('invitation_created', { note: 'a, "b"\r\n=cmd|calc' });

  test('as CSV can be read again, whatever people wrote', () => {
    const [head, first, second] = parseCsv(write('csv', [[hostile], [entry('user_disabled', { user_id: 2 })]]));
    expect(head).toEqual(['time', 'act', 'sentence', 'user_id', 'user', 'app_id', 'app', 'address', 'details']);
    expect(first).toEqual([
      ...[at, 'invitation_created', 'ada created an invitation: “a, "b"\r\n=cmd|calc”.', '1', 'ada', '', ''],
      ...['10.0.0.1', JSON.stringify(hostile.details)],
    ]);
    expect(second?.[2]).toBe('ada disabled bob.');
  });

  test('has no cell that a spreadsheet runs', () => {
    expect(['=1+1', '+1', '-1', '@x', '\tx'].map(csvCell)).toEqual(["'=1+1", "'+1", "'-1", "'@x", `"'\tx"`]);
    expect(csvCell('a;=WEBSERVICE(A1);b')).toBe(`"a;'=WEBSERVICE(A1);b"`);
    expect([5, null, 'a"b', ''].map(csvCell)).toEqual(['5', '', '"a""b"', '']);
  });

  test('as JSON has the entries as the server sends them, and their sentences', () => {
    const pages = [[hostile, entry('signed_out')], [entry('signed_out')]];
    const parsed = JSON.parse(write('json', pages)) as (AuditEntry & { sentence: string })[];
    expect(parsed.map(({ sentence, ...one }) => one)).toEqual(pages.flat());
    expect(parsed[2]?.sentence).toBe('ada signed out.');
    expect(JSON.parse(write('json', [[]]))).toEqual([]);
  });
});

describe('a chart', () => {
  const frame = { from: 0, to: 600, max: 10, gapMs: 100 };

  test('connects points, but not over a gap, and shows a lonely point', () => {
    const points = [0, 60, 120, 500].map((at) => ({ at, value: 5 }));
    const { line, area } = shapeOf(points, frame);
    expect(line).toBe('M0 50L60 50L120 50M500 50h0');
    expect(area).toBe('M0 100L0 50L60 50L120 50L120 100Z');
    expect(shapeOf([], frame)).toEqual({ line: '', area: '' });
    expect(shapeOf([{ at: 0, value: null }], frame).line).toBe('');
    expect(shapeOf([{ at: 0, value: 0 }], { ...frame, max: 0 }).line).toBe('M0 100h0');
  });

  test('finds the point at the pointer', () => {
    const points = [
      { at: 0, value: 1 },
      { at: 60, value: null },
      { at: 120, value: 3 },
    ];
    expect(nearest(points, 70)?.at).toBe(120);
    expect(nearest([], 70)).toBeUndefined();
  });

  const sample = (minutes: number, more: Partial<MetricSample> = {}): MetricSample => ({
    at: new Date(Date.parse(at) + minutes * 60_000).toISOString(),
    messages: 1,
    people_online: 2,
    streams: 3,
    webhook_lag_ms: null,
    backlog: 0,
    disk_free_bytes: 3 * 1_024 ** 3,
    disk_total_bytes: 4 * 1_024 ** 3,
    requests: 10,
    server_errors: 0,
    ...more,
  });

  test('has a total, a last value, or what is free', () => {
    const samples = [sample(0, { people_online: 5, messages: 4 }), sample(5)];
    const shown = (label: string) => {
      const metric = metrics.find((one) => one.label === label);
      const figure = metric && figureOf(metric, samples, 5);
      return [figure?.value, figure?.range];
    };
    expect(shown('Messages')).toEqual(['5', 'in total, at most 4 in 5 min']);
    expect(shown('People online')).toEqual(['2', 'between 2 and 5']);
    expect(shown('Disk')).toEqual(['3.0 GB free', '1.0 GB of 4.0 GB used']);
    expect(shown('Webhook lag')).toEqual(['–', 'none']);
  });

  test('has its numbers by hour, the newest first', () => {
    const rows = byHour([sample(0), sample(5, { people_online: 7 }), sample(60)]);
    expect(rows.map(({ values }) => values.slice(0, 2))).toEqual([
      [1, 2],
      [2, 7],
    ]);
  });
});

test('filters of the audit log come from the URL, and what is none is left out', () => {
  expect(readFilters('?act=signed_in&user=ada&since=2026-01-10T12:00:00Z')).toEqual({
    act: 'signed_in',
    user: 'ada',
    since: at,
    until: '',
  });
  expect(readFilters('?act=DROP TABLE&since=soon')).toEqual({ act: '', user: '', since: '', until: '' });
});

test('the pages of administration have paths', () => {
  for (const page of ['overview', 'people', 'storage', 'chats', 'audit', 'service'] as const) {
    expect(parseRoute(`/console/${page}?x=1`)).toEqual({ name: 'console', page, id: undefined, query: '?x=1' });
    expect(parseRoute(`/console/${page}/1`)).toBeUndefined();
  }
});
