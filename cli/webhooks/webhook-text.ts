import { disabledReasons, type Webhook } from '@parley/contract';
import { ageText } from '../age.ts';
import type { Environment } from '../context.ts';
import { localSecond, localTime, oneLine } from '../output.ts';

/** Returns the status in one or two words. A webhook whose endpoint does not respond is `down`. */
export const statusText = ({ status, down_since }: Pick<Webhook, 'status' | 'down_since'>): string =>
  status === 'active' && down_since !== null ? 'down' : status;

/** Returns how old the oldest undelivered event is. */
export const behindText = ({ oldest_undelivered_age: age }: Pick<Webhook, 'oldest_undelivered_age'>): string =>
  age === null ? '-' : ageText(age);

export const eventsText = ({ events }: Pick<Webhook, 'events'>): string =>
  events.includes('*') ? 'all' : oneLine(events.join(','));

/** Returns the state of a webhook in a sentence, with the command that helps. */
export function stateLine(webhook: Webhook, env: Environment): string {
  const { webhook_id, status, disabled_reason, down_since, next_attempt_at } = webhook;
  const resume = `parley webhooks resume ${webhook_id}`;
  if (status === 'paused') return `paused. Events wait until: ${resume}`;
  if (status === 'disabled') return `disabled: ${reasonText(disabled_reason)}. Make it active: ${resume}`;
  if (down_since === null) return 'active';
  const next = next_attempt_at === null ? '' : ` The next attempt is at ${localSecond(next_attempt_at, env)}.`;
  return `down since ${localTime(down_since, env)}.${next} Try it now: parley webhooks test ${webhook_id}`;
}

/** A newer server may have other reasons. */
const reasonText = (reason: string | null): string =>
  (disabledReasons as Readonly<Record<string, string>>)[reason ?? ''] ?? reason ?? 'unknown';
