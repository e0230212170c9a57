import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Store } from '../../store/store.ts';
import { chatName, useSession } from '../context.ts';
import type { Operation } from './api-document.ts';

/** Ids that mean something to the reader. Those that do not exist are missing. */
export interface OwnIds {
  readonly userId: number;
  /** Other people, of direct chats. */
  readonly people: readonly number[];
  readonly chat: { readonly id: number; readonly name: string } | undefined;
  /** A message of that chat, of the reader if there is one. */
  readonly messageId: number | undefined;
  readonly webhookId: number | undefined;
}

/** Returns ids for the example of an operation. They stay as they are while somebody reads, whatever happens in the chats. */
export function useOwnIds({ example }: Pick<Operation, 'example'>): OwnIds {
  const { store, client, report } = useSession();
  const isReady = store.isReady.value;
  const fromStore = useMemo(() => idsIn(store), [store, isReady]);
  const [webhookId, setWebhookId] = useState<number | undefined>(undefined);
  const needsWebhook = 'webhook_id' in example;
  useEffect(() => {
    if (needsWebhook)
      client.webhooks.list({ limit: 1 }).then(({ webhooks: [first] }) => setWebhookId(first?.webhook_id), report);
  }, [needsWebhook]);
  return { ...fromStore, webhookId };
}

/** Returns the ids of the reader, and of the chat that was last active. One whose last message is theirs is better. */
function idsIn(store: Store): Omit<OwnIds, 'webhookId'> {
  const chats = store.byActivity.peek();
  const userId = store.me.user_id;
  const chat = chats.find(({ last_message }) => last_message?.user_id === userId) ?? chats[0];
  return {
    userId,
    people: chats.flatMap(({ peer }) => (peer ? [peer.user_id] : [])).slice(0, 2),
    chat: chat && { id: chat.chat_id, name: chatName(chat) },
    messageId: chat?.last_message?.message_id,
  };
}

type Input = Readonly<Record<string, unknown>>;

/** Returns an example with the ids of the reader. A change to a user is about somebody else. */
export function filledIn(method: 'GET' | 'POST', input: Input, ids: OwnIds): Input {
  const { userId, people, chat, messageId } = ids;
  const user = method === 'GET' ? userId : people[0];
  const own: Input = {
    chat_id: chat?.id,
    message_id: messageId,
    reply_to: messageId,
    user_id: user,
    webhook_id: ids.webhookId,
    user_ids: [userId],
    participants: people.length > 0 ? people : undefined,
  };
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, own[name] ?? value]));
}
