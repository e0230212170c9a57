import { firstText, type Json, pick, text } from './json.ts';
import { code, dotted, lines, link, linkTo, paragraph, plain, words } from './markdown.ts';

/** A webhook of Sentry's integration platform, which names the resource in a header. */
export function sentryMessage(resource: string, payload: Json): string | undefined {
  const render = pick(resources, resource);
  return render ? render(payload) : words('Sentry:', code(resource), plain(text(payload, 'action')));
}

const resources: Readonly<Record<string, (payload: Json) => string | undefined>> = {
  installation: (p) => words('Sentry:', 'the integration was', plain(text(p, 'action') || 'changed')),
  event_alert: (p) =>
    lines(
      problem(p, 'data.event'),
      text(p, 'data.triggered_rule') && words('Alert rule:', plain(text(p, 'data.triggered_rule'))),
    ),
  error: (p) => problem(p, 'data.error'),
  issue: (p) => {
    const action = text(p, 'action');
    if (action === 'created') return problem(p, 'data.issue');
    const url = firstText(p, 'data.issue.web_url', 'data.issue.permalink');
    const by = firstText(p, 'actor.name');
    const name = linkTo(`**${plain(text(p, 'data.issue.title'))}**`, url);
    return words(action === 'resolved' ? '🟢' : '⚪', name, 'was', plain(action), by && `by ${plain(by)}`);
  },
  metric_alert: (p) => {
    const action = text(p, 'action');
    const sign = action === 'resolved' ? '🟢' : action === 'warning' ? '🟡' : '🔴';
    const title = firstText(p, 'data.description_title', 'data.metric_alert.title') || 'Metric alert';
    return lines(
      words(sign, linkTo(`**${plain(title)}**`, text(p, 'data.web_url'))),
      paragraph(text(p, 'data.description_text')),
    );
  },
  comment: (p) => words(plain(text(p, 'actor.name') || 'Somebody'), 'commented:', plain(text(p, 'data.comment'))),
};

/** The payload of the older WebHooks plugin. */
export const isSentryPlugin = (payload: Json): boolean =>
  typeof payload.project_name === 'string' && 'event' in payload && 'culprit' in payload;

export const sentryPluginMessage = (p: Json): string =>
  lines(
    words(signOf(text(p, 'level')), linkTo(`**${plain(firstText(p, 'event.title', 'message'))}**`, text(p, 'url'))),
    dotted(plain(text(p, 'project_name')), code(text(p, 'culprit')), plain(text(p, 'level'))),
  );

function problem(p: Json, at: string): string {
  const url = firstText(p, `${at}.web_url`, `${at}.permalink`, `${at}.url`);
  const title = firstText(p, `${at}.title`, `${at}.message`) || 'Issue';
  const project = firstText(p, `${at}.project.name`, `${at}.project.slug`, `${at}.project_name`);
  const shortId = text(p, `${at}.shortId`);
  return lines(
    words(signOf(text(p, `${at}.level`)), linkTo(`**${plain(title)}**`, url)),
    dotted(
      shortId && link(shortId, url),
      project && plain(project),
      text(p, `${at}.culprit`) && code(text(p, `${at}.culprit`)),
      text(p, `${at}.level`) && plain(text(p, `${at}.level`)),
      text(p, `${at}.environment`) && plain(text(p, `${at}.environment`)),
    ),
  );
}

const signOf = (level: string): string => {
  if (level === 'warning') return '🟡';
  return level === 'info' || level === 'debug' ? '🔵' : '🔴';
};
