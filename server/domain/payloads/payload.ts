import { alertsMessage, isAlerts, isUptime, uptimeMessage } from './alerts.ts';
import { githubMessage } from './github.ts';
import { gitlabMessage, isGitlab } from './gitlab.ts';
import type { Json } from './json.ts';
import { isSentryPlugin, sentryMessage, sentryPluginMessage } from './sentry.ts';
import { isSlackMessage, slackMessage } from './slack.ts';

/** What other services send, and what it says. */
export interface Rendered {
  readonly form: 'slack' | 'github' | 'gitlab' | 'sentry' | 'alerts' | 'uptime';
  /** Markdown. Undefined for an event that says nothing to people. */
  readonly markdown: string | undefined;
}

/** Returns the value of a request header. */
export type HeaderOf = (name: string) => string | null;

/**
 * Returns a payload of another service as Markdown, or undefined for one that is unknown. A message in Slack's form ends after about
 * `maxLength` characters; the others are short.
 */
export function renderPayload(payload: Json, header: HeaderOf, maxLength: number): Rendered | undefined {
  const github = header('x-github-event');
  if (github !== null) return { form: 'github', markdown: githubMessage(github, payload) };
  if (isGitlab(payload)) return { form: 'gitlab', markdown: gitlabMessage(payload) };
  const sentry = header('sentry-hook-resource');
  if (sentry !== null) return { form: 'sentry', markdown: sentryMessage(sentry, payload) };
  if (isSentryPlugin(payload)) return { form: 'sentry', markdown: sentryPluginMessage(payload) };
  if (isAlerts(payload)) return { form: 'alerts', markdown: alertsMessage(payload) };
  if (isUptime(payload)) return { form: 'uptime', markdown: uptimeMessage(payload) };
  if (isSlackMessage(payload)) return { form: 'slack', markdown: slackMessage(payload, maxLength) };
  return undefined;
}
