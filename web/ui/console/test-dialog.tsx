/** @jsxImportSource preact */
import type { ClientOutput } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { explain } from './failure.ts';
import { Why } from './health.tsx';

const words = consoleText.test;

interface TestDialogProps {
  readonly webhookId: number;
  readonly onClose: () => void;
}

export const TestDialog = ({ webhookId, onClose }: TestDialogProps) => (
  <Dialog title={words.title} onClose={onClose}>
    <TestResult webhookId={webhookId} />
  </Dialog>
);

/** Sends a test, and says what came of it. */
export function TestResult({ webhookId }: { webhookId: number }) {
  const { client } = useSession();
  const [result, setResult] = useState<ClientOutput<'webhooks.test'> | undefined>(undefined);
  const load = useCallback(async () => {
    setResult(undefined);
    setResult(await client.webhooks.test({ webhook_id: webhookId }));
  }, [client, webhookId]);
  const { problem, run, again } = useLoading(words.failed, load);
  const isSending = result === undefined && problem === '';
  return (
    <>
      <div role="status" class="test-result">
        {isSending && <p class="muted">{words.sending}</p>}
        {result && <Outcome result={result} />}
      </div>
      <Problem words={problem} onRetry={again} />
      <div class="buttons">
        <button type="button" class="button quiet" disabled={isSending} onClick={() => run(load)}>
          {words.again}
        </button>
      </div>
    </>
  );
}

/** What came of a test. */
export function Outcome({ result: { attempt } }: { result: ClientOutput<'webhooks.test'> }) {
  const { status, duration_ms, answer } = attempt;
  const why = explain(attempt);
  return (
    <>
      {why ? (
        <Why explanation={why} />
      ) : (
        <p class="good">{words.delivered({ status: status ?? 0, ms: consoleText.milliseconds(duration_ms) })}</p>
      )}
      {status !== null && (
        <div class="field">
          <span>{words.response}</span>
          {answer ? <pre class="code">{answer}</pre> : <p class="muted">{words.noResponse}</p>}
        </div>
      )}
    </>
  );
}
