import { useComputed } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import type { Session } from '../session.ts';
import { type ChatHead, headOf } from '../store/records.ts';
import { text } from '../text/text.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('there is no session');
  return session;
}

/** Returns a chat that stays the same object while messages arrive in it. */
export function useChat(chatId: number): ChatHead | undefined {
  const { store } = useSession();
  const before = useRef<ChatHead | undefined>(undefined);
  return useComputed(() => {
    const chat = store.chat(chatId);
    const head = chat && headOf(chat);
    if (!head || !before.current || !isSame(head, before.current)) before.current = head;
    return before.current;
  }).value;
}

const isSame = (a: ChatHead, b: ChatHead): boolean =>
  (Object.keys(a) as (keyof ChatHead)[]).every((key) => a[key] === b[key]);

/** Returns the name of a chat, as its participant sees it. */
export function chatName({ name, peer }: Pick<ChatHead, 'name' | 'peer'>): string {
  return name ?? peer?.display_name ?? text.chat.direct;
}

/** Returns the name of a user, or a stand-in until it is loaded. */
export function useUserName(userId: number): string {
  const { store } = useSession();
  return store.user(userId)?.display_name ?? '…';
}

/** Those who may write in a chat. */
export const maySend = ({ type, role }: ChatHead): boolean =>
  role !== null && (type !== 'channel' || role !== 'member');

/** Those who may pin messages in a chat. */
export const mayPin = maySend;

export const mayManage = ({ type, role }: ChatHead): boolean =>
  type !== 'direct' && (role === 'owner' || role === 'admin');
