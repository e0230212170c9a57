import { en as places } from '../shared/places/en.ts';
import { accessWords } from './en/access.tsx';
import { age, decimal, number } from './en/ages.ts';
import { deliveryWords } from './en/deliveries.ts';
import { eventWords } from './en/events.ts';
import { failures, testFailures } from './en/failures.ts';
import { signatures } from './en/signatures.ts';
import { webhookWords } from './en/webhooks.tsx';

/** Texts of the console, by page. The rules are those of `../en.tsx`. */
export const en = {
  age,
  ago: (seconds: number) => `${age(seconds)} ago`,
  milliseconds: (ms: number) => (ms < 1_000 ? `${number(ms)} ms` : `${decimal(ms / 1_000)} s`),
  /** In a cell that has no value. */
  none: '–',

  navigation: {
    label: places.console,
    chats: 'Back to chats',
    pages: {
      webhooks: 'Webhooks',
      events: 'Events',
      signatures: 'Signatures',
      tokens: places.tokens,
      bots: 'Bots',
      apps: 'Apps',
      overview: places.overview,
      people: places.people,
      storage: 'Storage',
      chats: 'All chats',
      audit: places.audit,
      service: 'Service',
    },
    /** One of the things of a page, in the title of the tab. */
    onePage: ({ page, id }: { page: string; id: number }) => `${page}: ${id}`,
    administration: places.administration,
    docs: places.docs,
  },
  lost: 'Reconnecting… What you see may be old.',

  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not copy it. Select the text, and copy it yourself.',

  failures,
  testFailures,
  ...eventWords,
  ...webhookWords,
  ...deliveryWords,
  ...accessWords,
  signatures,
};
