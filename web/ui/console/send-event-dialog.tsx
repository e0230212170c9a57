/** @jsxImportSource preact */
import type { ClientOutput, Webhook } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { Problem, useLoading, useSubmit } from '../problem.tsx';
import { FormButtons } from './form-buttons.tsx';
import { Outcome } from './test-dialog.tsx';

const words = consoleText.sendEvent;

interface SendEventDialogProps {
  readonly eventId: number;
  readonly onClose: () => void;
}

/** Sends the exact body of an event to one of the reader's webhooks, and says what came of it. */
export function SendEventDialog({ eventId, onClose }: SendEventDialogProps) {
  const { client } = useSession();
  const [webhooks, setWebhooks] = useState<readonly Webhook[] | undefined>(undefined);
  const { problem, again } = useLoading(
    consoleText.webhooks.failed,
    useCallback(async () => {
      const all: Webhook[] = [];
      for await (const webhook of client.webhooks.list.all({})) all.push(webhook);
      setWebhooks(all);
    }, [client]),
  );
  return (
    <Dialog title={words.title} onClose={onClose}>
      <Problem words={problem} onRetry={again} />
      {webhooks?.length === 0 && (
        <p>
          {words.none} <a href="/console/webhooks">{words.create}</a>
        </p>
      )}
      {webhooks && webhooks.length > 0 && <Form eventId={eventId} webhooks={webhooks} onClose={onClose} />}
    </Dialog>
  );
}

interface FormProps extends SendEventDialogProps {
  readonly webhooks: readonly Webhook[];
}

function Form({ eventId, webhooks, onClose }: FormProps) {
  const { client } = useSession();
  const { problem, submit, isBusy } = useSubmit({ sentences: words.refusals });
  const [webhookId, setWebhookId] = useState(webhooks[0]?.webhook_id ?? 0);
  const [result, setResult] = useState<ClientOutput<'webhooks.test'> | undefined>(undefined);
  const url = webhooks.find(({ webhook_id }) => webhook_id === webhookId)?.url ?? '';
  const send = async () => {
    setResult(undefined);
    const input = { webhook_id: webhookId, event_id: eventId };
    setResult(await client.webhooks.test(input));
  };
  return (
    <form
      class="content"
      onSubmit={(event) => {
        event.preventDefault();
        submit(send);
      }}
    >
      <p class="muted">{words.about}</p>
      <label class="field">
        <span>{words.webhook}</span>
        <select value={webhookId} onChange={({ currentTarget }) => setWebhookId(Number(currentTarget.value))}>
          {webhooks.map(({ webhook_id, url }) => (
            <option key={webhook_id} value={webhook_id}>
              {url}
            </option>
          ))}
        </select>
      </label>
      <div role="status" class="test-result">
        {isBusy && <p class="muted">{consoleText.test.sending}</p>}
        {result && <Outcome result={result} url={url} />}
      </div>
      <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
    </form>
  );
}
