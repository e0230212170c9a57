/** @jsxImportSource preact */

import type { Webhook } from '@parley-chat/sdk';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { text } from '../../text/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { useSubmit } from '../problem.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { FormButtons } from './form-buttons.tsx';
import { makeSecret, SecretField } from './secret.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { snippets } from './snippets.ts';
import { exactTime } from './times.ts';
import { UrlTestResult, useUrlTest } from './url-test.tsx';
import { WebhookForm } from './webhook-form.tsx';

interface WebhookDialogProps {
  readonly webhook: Webhook;
  /** Called with what the server has now. */
  readonly onChange: (webhook: Webhook) => void;
  readonly onClose: () => void;
}

interface EditDialogProps extends WebhookDialogProps {
  /** A URL to begin with, instead of that of the webhook. */
  readonly urlBefore: string | undefined;
}

/** Changes the URL and the events. The chat is fixed. Another URL is tested first, as that of a new webhook. */
export function EditDialog({ webhook, urlBefore, onChange, onClose }: EditDialogProps) {
  const { client } = useSession();
  const { webhook_id, url, events } = webhook;
  const step = useUrlTest(urlBefore ?? url, (other) => client.webhooks.test({ webhook_id, url: other }));
  return (
    <Dialog title={consoleText.edit.title} onClose={onClose}>
      <WebhookForm
        url={step.url}
        onUrl={step.change}
        events={events}
        act={step.isRefused ? consoleText.edit.anyway : text.common.save}
        onCancel={onClose}
        onSubmit={async (form) => {
          // The token that sets the URL becomes the owner, so a URL that stays is not sent.
          const changed = form.url === url ? { events: form.events } : form;
          if (form.url !== url && !step.tested && !(await step.test())) return;
          onChange((await client.webhooks.update({ webhook_id, ...changed })).webhook);
          onClose();
        }}
      >
        <p class="muted">{consoleText.edit.about}</p>
        <UrlTestResult step={step} hint={consoleText.edit.anywayHint} />
      </WebhookForm>
    </Dialog>
  );
}

/** Signs with another secret, and says until when the old one counts too. */
export function RotateDialog({
  webhook: { webhook_id, previous_secret_until },
  onChange,
  onClose,
}: WebhookDialogProps) {
  const words = consoleText.rotate;
  const { client } = useSession();
  const { problem, submit, isBusy } = useSubmit({ labels: consoleText.form.labels });
  const [secret, setSecret] = useState(makeSecret);
  const [until, setUntil] = useState<string | undefined>(undefined);
  const rotate = async () => {
    const { webhook } = await client.webhooks.rotateSecret({ webhook_id, secret });
    setUntil(webhook.previous_secret_until ?? '');
    onChange(webhook);
  };
  if (until !== undefined)
    return (
      <SecretDialog
        key="rotated"
        title={words.title}
        about={until === '' ? '' : words.done(exactTime(until))}
        label={consoleText.secret.label}
        secret={secret}
        use={consoleText.secret.snippet}
        snippets={snippets}
        onClose={onClose}
      />
    );
  return (
    <Dialog key="form" title={words.title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(rotate);
        }}
      >
        <p>{words.about}</p>
        {previous_secret_until !== null && <p class="muted">{words.twice}</p>}
        <SecretField secret={secret} onChange={setSecret} />
        <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** Says what happens, then deletes the webhook. */
export function DeleteDialog({ webhook: { webhook_id, url }, onClose }: Omit<WebhookDialogProps, 'onChange'>) {
  const words = consoleText.remove;
  const { client } = useSession();
  return (
    <ConfirmDialog
      title={words.title}
      act={words.act}
      done={words.done}
      onConfirm={() => client.webhooks.delete({ webhook_id })}
      to="/console/webhooks"
      onClose={onClose}
    >
      <p>
        {words.question(
          <bdi>
            <strong>{url}</strong>
          </bdi>,
        )}{' '}
        {words.undelivered}
      </p>
      <p class="muted">{words.history}</p>
    </ConfirmDialog>
  );
}
