/** @jsxImportSource preact */
import type { WebhookHealth } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { useLoading } from '../problem.tsx';
import { webhookPath } from './filters.ts';
import { HealthCounts, HealthPill, HealthWords, healthOf, Receives } from './health.tsx';
import { useChanges, useOrder } from './live.ts';
import { NewWebhookDialog } from './new-webhook-dialog.tsx';
import { ListPage } from './page.tsx';

const words = consoleText.webhooks;

/** The server returns no more at once. */
const maxPageSize = 200;

/** All webhooks of the user, and how they are. */
export function WebhooksPage() {
  const { client } = useSession();
  const [webhooks, setWebhooks] = useState<readonly WebhookHealth[] | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const order = useOrder();
  const load = useCallback(async () => {
    const isNewest = order();
    const found: WebhookHealth[] = [];
    for await (const webhook of client.webhooks.health.all({ limit: maxPageSize })) found.push(webhook);
    if (isNewest()) setWebhooks(found);
  }, [client]);
  const loading = useLoading(words.failed, load);
  const { run } = loading;
  useChanges(
    undefined,
    useCallback(() => run(load), [run, load]),
  );
  return (
    <ListPage words={words} count={webhooks?.length} loading={loading} onCreate={() => setCreating(true)}>
      {webhooks && webhooks.length > 0 && (
        <ul class="webhook-list" aria-label={words.list}>
          {webhooks.map((webhook) => (
            <li key={webhook.webhook_id}>
              <WebhookEntry webhook={webhook} />
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
    </ListPage>
  );
}

function WebhookEntry({ webhook }: { webhook: WebhookHealth }) {
  const isWell = healthOf(webhook) === 'delivering';
  return (
    <article class="webhook-entry">
      <div class="line">
        <h2>
          <a href={webhookPath(webhook.webhook_id)}>
            <bdi>{webhook.url}</bdi>
          </a>
        </h2>
        <HealthPill webhook={webhook} />
      </div>
      <Receives webhook={webhook} />
      <HealthCounts webhook={webhook} />
      {!isWell && <HealthWords webhook={webhook} />}
    </article>
  );
}
