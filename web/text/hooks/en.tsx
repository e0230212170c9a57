/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';

/** The texts about incoming webhooks in English. */
export const en = {
  title: 'Incoming webhooks',
  about: (guide: (words: string) => ComponentChildren): ComponentChildren => (
    <>
      With a secret URL another service can post here: Grafana, Alertmanager, GitHub, GitLab, Sentry, Uptime Kuma, or
      anything that posts to Slack. {guide('How to set them up')}
    </>
  ),
  failed: 'The incoming webhooks could not be loaded.',
  list: 'Incoming webhooks of this chat',
  facts: (name: ComponentChildren, lastUsed: string | undefined): ComponentChildren => (
    <>
      Created by {name}, {lastUsed === undefined ? 'never used' : `last used ${lastUsed}`}
    </>
  ),
  inactive: 'Does not work: its creator may not post here',
  revoke: (name: string) => `Revoke ${name}`,
  question: (name: ComponentChildren): ComponentChildren => (
    <>Revoke {name}? Its URL stops working at once. Its messages stay.</>
  ),
  confirm: 'Revoke',
  name: 'Name',
  nameExample: 'Grafana',
  nameHint: 'The bot that posts has this name.',
  create: 'Create webhook',
  made: (name: ComponentChildren): ComponentChildren => (
    <>The webhook of {name} is ready. Copy its URL now: it is not shown again. Anybody who knows it can post here.</>
  ),
  url: 'Secret URL',
  tryIt: 'Try it in a terminal',
  sample: 'Hello from a **webhook**',
  copy: 'Copy',
  copied: 'Copied',
  copyUrl: 'Copy the URL',
  copySnippet: 'Copy the command',
  picture: 'Choose a picture',
  pictureFile: 'Picture of the bot',
  pictureSaved: 'The bot has a picture now.',
  pictureBad: 'This file is not a picture that can be used.',
  done: 'Done',
} as const;
