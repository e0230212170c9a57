import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../session.ts';
import type { ChatRecord } from '../store/records.ts';
import { text } from '../text/text.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('there is no session');
  return session;
}

/** Returns the name of a chat, as its participant sees it. */
export function chatName({ name, peer }: Pick<ChatRecord, 'name' | 'peer'>): string {
  return name ?? peer?.display_name ?? text.chat.direct;
}

/** Returns the name of a user, or a stand-in until it is loaded. */
export function useUserName(userId: number): string {
  const { store } = useSession();
  return store.user(userId)?.display_name ?? '…';
}

/** Those who may write in a chat. */
export const maySend = ({ type, role }: ChatRecord): boolean =>
  role !== null && (type !== 'channel' || role !== 'member');

/** Those who may pin messages in a chat. */
export const mayPin = maySend;

export const mayManage = ({ type, role }: ChatRecord): boolean =>
  type !== 'direct' && (role === 'owner' || role === 'admin');
