/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { EmptyState } from './empty-state.tsx';
import { chatPath, navigate } from './route.ts';

/** A link to a message leads to its chat. */
export function MessageLink({ messageId }: { messageId: number }) {
  const { client } = useSession();
  const [problem, setProblem] = useState<'missing' | 'offline' | undefined>(undefined);
  const load = useCallback(() => {
    setProblem(undefined);
    client.messages.get({ message_id: messageId }).then(
      ({ message }) => navigate(chatPath(message.chat_id, message.message_id), { replace: true }),
      (error: unknown) => setProblem(error instanceof ApiError && error.status < 500 ? 'missing' : 'offline'),
    );
  }, [messageId, client]);
  useEffect(load, [load]);
  if (problem === undefined) return null;
  const home = (
    <a class="button" href="/">
      {text.common.goToChats}
    </a>
  );
  return problem === 'missing' ? (
    <EmptyState icon="link" level={1} title={text.messageLink.missing} actions={home}>
      {text.messageLink.missingHint}
    </EmptyState>
  ) : (
    <EmptyState
      icon="link"
      level={1}
      title={text.messageLink.offline}
      actions={
        <>
          <button type="button" class="button" onClick={load}>
            {text.common.tryAgain}
          </button>
          <a class="button quiet" href="/">
            {text.common.goToChats}
          </a>
        </>
      }
    >
      {text.messageLink.offlineHint}
    </EmptyState>
  );
}
