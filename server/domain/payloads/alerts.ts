import { entries, type Json, objects, pick, text } from './json.ts';
import { bold, bullets, code, dotted, lines, link, paragraph, paragraphs, plain, words } from './markdown.ts';

const maxAlerts = 10;
const maxLabels = 8;

/** They are shown elsewhere, or are for machines. */
const hiddenLabels = new Set(['alertname', 'severity', 'grafana_folder', 'rulename']);

/** Alertmanager's webhook, version 4. Grafana's has the same fields and some more. */
export const isAlerts = (payload: Json): boolean =>
  Array.isArray(payload.alerts) && typeof payload.status === 'string' && 'groupLabels' in payload;

/** Returns the alerts of Alertmanager or Grafana as Markdown. */
export function alertsMessage(payload: Json): string {
  const alerts = objects(payload, 'alerts');
  const [only] = alerts;
  if (only && alerts.length === 1) return lines(headOf(only), ...detailsOf(only, payload));
  const firing = alerts.filter((alert) => text(alert, 'status') === 'firing').length;
  const resolved = alerts.length - firing;
  const counts = [firing > 0 && `${firing} firing`, resolved > 0 && `${resolved} resolved`].filter(Boolean).join(', ');
  const common = text(payload, 'commonLabels.alertname') || text(payload, 'groupLabels.alertname') || 'Alerts';
  const omitted = Number(text(payload, 'truncatedAlerts')) || 0;
  return paragraphs(
    lines(
      words(signOf(firing > 0 ? 'firing' : 'resolved'), `**${plain(common)}**`, counts && `(${counts})`),
      bullets(alerts, maxAlerts, (alert) => lines(headOf(alert), ...detailsOf(alert, payload))),
    ),
    omitted > 0 && `${omitted} more were left out by the sender.`,
  );
}

const signOf = (status: string): string => (status === 'resolved' ? '🟢' : '🔴');

function headOf(alert: Json): string {
  const status = text(alert, 'status') || 'firing';
  const name = text(alert, 'labels.alertname') || 'Alert';
  const severity = text(alert, 'labels.severity');
  const state = status === 'resolved' ? 'Resolved' : 'Firing';
  return words(signOf(status), `**${state}: ${plain(name)}**`, severity && `(${plain(severity)})`);
}

function detailsOf(alert: Json, payload: Json): string[] {
  const summary = text(alert, 'annotations.summary') || text(alert, 'annotations.title');
  const description = text(alert, 'annotations.description') || text(alert, 'annotations.message');
  const values = text(alert, 'valueString');
  const labels = entries(alert, 'labels').filter(([name]) => !hiddenLabels.has(name) && !name.startsWith('__'));
  const shown = labels.slice(0, maxLabels).map(([name, value]) => code(`${name}=${value}`));
  return [
    summary && plain(summary, 500),
    description !== summary && description && paragraph(description),
    !summary && !description && values && plain(values, 500),
    words(...shown, labels.length > maxLabels && '…'),
    linksOf(alert, payload),
  ].filter((part): part is string => Boolean(part));
}

function linksOf(alert: Json, payload: Json): string {
  const named = (label: string, url: string) => (url === '' ? '' : link(label, url));
  return dotted(
    named('Source', text(alert, 'generatorURL')),
    named('Dashboard', text(alert, 'dashboardURL')),
    named('Panel', text(alert, 'panelURL')),
    named('Runbook', text(alert, 'annotations.runbook_url')),
    named('Silence', text(alert, 'silenceURL')),
    // Grafana's is the page of the server, which the other links lead to as well.
    !('orgId' in payload) && named('Alertmanager', text(payload, 'externalURL')),
  );
}

/** Uptime Kuma's webhook. A test has neither a monitor nor a heartbeat. */
export const isUptime = (payload: Json): boolean =>
  typeof payload.msg === 'string' && 'heartbeat' in payload && 'monitor' in payload;

const states: Readonly<Record<string, string>> = {
  '0': '🔴 down',
  '1': '🟢 up',
  '2': '🟡 pending',
  '3': '🔵 under maintenance',
};

export function uptimeMessage(payload: Json): string {
  const name = text(payload, 'monitor.name');
  const state = pick(states, text(payload, 'heartbeat.status'));
  if (name === '' || state === undefined) return paragraph(text(payload, 'msg'));
  const [sign = '', ...said] = state.split(' ');
  const url = text(payload, 'monitor.url');
  const ping = text(payload, 'heartbeat.ping');
  return lines(
    words(sign, bold(`${name} is ${said.join(' ')}`), ping && `(${plain(ping)} ms)`),
    paragraph(text(payload, 'heartbeat.msg')),
    /^https?:\/\/./.test(url) && url !== 'https://' && link(url, url),
  );
}
