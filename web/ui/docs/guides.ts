/**
 * The guides, as the bundler finds them. They are in the part of the reference: a server that is one compiled file then has them
 * too, and they fit its version.
 */
import authorization from '../../../docs/authorization.md' with { type: 'text' };
import backup from '../../../docs/backup.md' with { type: 'text' };
import files from '../../../docs/files.md' with { type: 'text' };
import incomingWebhooks from '../../../docs/incoming-webhooks.md' with { type: 'text' };
import lifeOfARequest from '../../../docs/life-of-a-request.md' with { type: 'text' };
import lifeOfAWebhook from '../../../docs/life-of-a-webhook.md' with { type: 'text' };
import mcp from '../../../docs/mcp.md' with { type: 'text' };
import mentionsAndThreads from '../../../docs/mentions-and-threads.md' with { type: 'text' };
import notifications from '../../../docs/notifications.md' with { type: 'text' };
import performance from '../../../docs/performance.md' with { type: 'text' };
import errors from '../../../docs/reference/errors.md' with { type: 'text' };
import events from '../../../docs/reference/events.md' with { type: 'text' };
import sdk from '../../../docs/reference/sdk.md' with { type: 'text' };
import settings from '../../../docs/reference/settings.md' with { type: 'text' };
import scale from '../../../docs/scale.md' with { type: 'text' };
import streams from '../../../docs/streams.md' with { type: 'text' };
import webhooks from '../../../docs/webhooks.md' with { type: 'text' };

export interface Guide {
  readonly name: string;
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  /** Whether it has commands to type. */
  readonly hasCommands: boolean;
  /** The generated ones are tables: events, errors, methods, settings. */
  readonly kind: 'guides' | 'tables';
}

/** In the order of the navigation: for those who write programs first. */
const texts = {
  guides: {
    authorization,
    streams,
    webhooks,
    'incoming-webhooks': incomingWebhooks,
    mcp,
    files,
    'mentions-and-threads': mentionsAndThreads,
    notifications,
    'life-of-a-request': lifeOfARequest,
    'life-of-a-webhook': lifeOfAWebhook,
    backup,
    scale,
    performance,
  },
  tables: { events, errors, sdk, settings },
} as const;

/** How the guides write the command line. Outside of a checkout, it runs the package of another project. */
const inCheckout = 'npx parley';

const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1] ?? '';

export const guides: readonly Guide[] = (['guides', 'tables'] as const).flatMap((kind) =>
  Object.entries(texts[kind]).map(([name, text]) => ({
    name,
    title: titleOf(text),
    text: text.replaceAll(inCheckout, 'parley'),
    hasCommands: text.includes(inCheckout),
    kind,
  })),
);

export const guidePath = (name: string): string => `/docs/guides/${name}`;

/** Returns the id of a heading, as the links of the guides write it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
