/** @jsxImportSource preact */
import type { Webhook } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { EmptyState } from '../empty-state.tsx';
import { Icon } from '../icon.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { webhookPath } from './filters.ts';
import { HealthPill, HealthWords, healthOf, loadState, Receives, type WebhookState } from './health.tsx';
import { useChanges } from './live.ts';
import { NewWebhookDialog } from './new-webhook-dialog.tsx';

const words = consoleText.webhooks;

/** All webhooks of the user, and how they are. */
export function WebhooksPage() {
  const { client } = useSession();
  const [states, setStates] = useState<readonly WebhookState[] | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const load = useCallback(async () => {
    const webhooks: Webhook[] = [];
    for await (const webhook of client.webhooks.list.all({})) webhooks.push(webhook);
    setStates(await Promise.all(webhooks.map((webhook) => loadState(client, webhook))));
  }, [client]);
  const loading = useLoading(words.failed, load);
  const { run } = loading;
  useChanges(
    undefined,
    useCallback(() => run(load), [run, load]),
  );
  const create = (
    <button type="button" class="button" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {words.create}
    </button>
  );
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{words.title}</h1>
          <p class="muted">{words.about}</p>
        </div>
        {states && states.length > 0 && create}
      </header>
      <Problem words={loading.problem} onRetry={loading.again} />
      {states?.length === 0 && (
        <EmptyState icon="link" title={words.empty} actions={create}>
          {words.emptyHint}
        </EmptyState>
      )}
      {states && states.length > 0 && (
        <ul class="webhook-list" aria-label={words.list}>
          {states.map((state) => (
            <li key={state.webhook.webhook_id}>
              <WebhookEntry state={state} />
            </li>
          ))}
        </ul>
      )}
      {isCreating && (
        <NewWebhookDialog
          onClose={() => {
            setCreating(false);
            run(load);
          }}
        />
      )}
    </div>
  );
}

function WebhookEntry({ state }: { state: WebhookState }) {
  const { webhook } = state;
  const isWell = healthOf(state) === 'delivering';
  return (
    <article class="webhook-entry">
      <div class="line">
        <h2>
          <a href={webhookPath(webhook.webhook_id)}>
            <bdi>{webhook.url}</bdi>
          </a>
        </h2>
        <HealthPill state={state} />
      </div>
      <Receives webhook={webhook} />
      {!isWell && <HealthWords state={state} />}
    </article>
  );
}
