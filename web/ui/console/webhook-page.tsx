/** @jsxImportSource preact */
import { ApiError, type Webhook } from '@parley-chat/sdk';
import type { WebhookHealth } from '@parley-chat/sdk/operations.ts';
import { useCallback, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { tell, useAct } from '../notice.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { Deliveries } from './deliveries.tsx';
import { readFilters } from './filters.ts';
import { HealthCounts, HealthPill, HealthWords, overlapEndOf, Receives } from './health.tsx';
import { useChanges, useOrder } from './live.ts';
import { BackLink, MissingPage } from './page.tsx';
import { ReplayDialog, Replays } from './replays.tsx';
import { TestDialog } from './test-dialog.tsx';
import { exactTime } from './times.ts';
import { DeleteDialog, EditDialog, RotateDialog } from './webhook-dialogs.tsx';

const words = consoleText.webhook;

type Act = 'test' | 'edit' | 'rotate' | 'replay' | 'delete';

interface WebhookPageProps {
  readonly webhookId: number;
  readonly query: string;
}

/** One webhook with its deliveries. */
export function WebhookPage({ webhookId, query }: WebhookPageProps) {
  const { client } = useSession();
  const [webhook, setWebhook] = useState<WebhookHealth | undefined>(undefined);
  const [isMissing, setMissing] = useState(false);
  const [act, setAct] = useState<Act | undefined>(undefined);
  const [urlBefore, setUrlBefore] = useState<string | undefined>(undefined);
  /** Rises whenever something may have changed. Those below load again then. */
  const [tick, setTick] = useState(0);
  const order = useOrder();
  const load = useCallback(async () => {
    try {
      const isNewest = order();
      const { webhooks } = await client.webhooks.health({ webhook_id: webhookId });
      if (isNewest()) setWebhook(webhooks[0]);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      setMissing(true);
    }
  }, [client, webhookId]);
  const { problem, run, again } = useLoading(words.failed, load);
  const refresh = useCallback(() => {
    run(load);
    setTick((count) => count + 1);
  }, [run, load]);
  // A webhook that is being deleted would be missing before the page is left.
  const isDeleting = useRef(false);
  isDeleting.current = act === 'delete';
  useChanges(
    webhookId,
    useCallback(() => {
      if (!isDeleting.current) refresh();
    }, [refresh]),
  );
  if (isMissing) return <MissingPage words={words} href="/console/webhooks" />;
  const change = (changed: Webhook) => webhook && setWebhook({ ...webhook, ...changed });
  const close = () => {
    setAct(undefined);
    setUrlBefore(undefined);
    refresh();
  };
  const editUrl = (url: string) => {
    setUrlBefore(url);
    setAct('edit');
  };
  return (
    <div class="page wide">
      <BackLink href="/console/webhooks" words={words.all} />
      <Problem words={problem} onRetry={again} />
      {webhook && <Head webhook={webhook} onAct={setAct} onChange={change} onRefresh={refresh} />}
      <Replays webhookId={webhookId} tick={tick} onChange={refresh} />
      <Deliveries
        webhookId={webhookId}
        filters={readFilters(query)}
        tick={tick}
        advice={{ url: webhook?.url ?? '', overlapEnd: webhook && overlapEndOf(webhook), onUse: editUrl }}
        onChange={refresh}
      />
      {webhook && (
        <ActDialog
          act={act}
          webhook={webhook}
          urlBefore={urlBefore}
          onUse={editUrl}
          onChange={change}
          onClose={close}
        />
      )}
    </div>
  );
}

interface HeadProps {
  readonly webhook: WebhookHealth;
  readonly onAct: (act: Act) => void;
  readonly onChange: (webhook: Webhook) => void;
  readonly onRefresh: () => void;
}

/** Acts that open a window, besides the test. */
const acts = ['edit', 'rotate', 'replay', 'delete'] as const;

function Head({ webhook, onAct, onChange, onRefresh }: HeadProps) {
  const { client } = useSession();
  const tried = useAct();
  const isBusy = useRef(false);
  const { webhook_id, status } = webhook;
  const setStatus = (next: 'active' | 'paused') => {
    if (isBusy.current) return;
    isBusy.current = true;
    tried(words.changeFailed, async () => {
      try {
        onChange((await client.webhooks.update({ webhook_id, status: next })).webhook);
        tell(next === 'active' ? words.resumed : words.paused);
        onRefresh();
      } finally {
        isBusy.current = false;
      }
    });
  };
  return (
    <header class="webhook-head">
      <div class="line">
        <h1>
          <bdi>{webhook.url}</bdi>
        </h1>
        <HealthPill webhook={webhook} />
      </div>
      <p class="muted">
        <Receives webhook={webhook} />
        {' · '}
        {words.created(exactTime(webhook.created_at))}
      </p>
      <HealthCounts webhook={webhook} />
      <HealthWords webhook={webhook} />
      <fieldset class="buttons">
        <legend class="unseen">{words.actions}</legend>
        <button type="button" class="button" onClick={() => onAct('test')}>
          {words.test}
        </button>
        <button type="button" class="button quiet" onClick={() => setStatus(status === 'active' ? 'paused' : 'active')}>
          {status === 'active' ? words.pause : words.resume}
        </button>
        {acts.map((act) => (
          <button key={act} type="button" class="button quiet" onClick={() => onAct(act)}>
            {words[act]}
          </button>
        ))}
      </fieldset>
    </header>
  );
}

interface ActDialogProps {
  readonly act: Act | undefined;
  readonly webhook: Webhook;
  readonly urlBefore: string | undefined;
  /** Edits the webhook with another URL. */
  readonly onUse: (url: string) => void;
  readonly onChange: (webhook: Webhook) => void;
  readonly onClose: () => void;
}

function ActDialog({ act, urlBefore, onUse, ...props }: ActDialogProps) {
  const { webhook_id } = props.webhook;
  switch (act) {
    case 'test':
      return <TestDialog webhook={props.webhook} onUse={onUse} onClose={props.onClose} />;
    case 'edit':
      return <EditDialog {...props} urlBefore={urlBefore} />;
    case 'rotate':
      return <RotateDialog {...props} />;
    case 'replay':
      return <ReplayDialog webhookId={webhook_id} onClose={props.onClose} />;
    case 'delete':
      return <DeleteDialog {...props} />;
    case undefined:
      return null;
  }
}
