import { type Signal, signal } from '@preact/signals';
import { useSession } from './context.ts';

/** The name of a service that nobody has named. */
const unnamed = 'Parley';

/** Each administrator has their own list. */
export const hiddenKey = (userId: number) => `parley-first-steps-hidden ${userId}`;
/** Chats tell only of their last message, which may be an answer. */
export const sentKey = (userId: number) => `parley-first-steps-sent ${userId}`;

/** Undefined until it is read from the storage of the browser. */
export const isHidden: Signal<boolean | undefined> = signal(undefined);

export interface Steps {
  readonly isNamed: boolean;
  readonly isInvited: boolean;
  readonly hasSent: boolean;
  readonly isConnected: boolean;
}

/** Returns what is done, 'unknown' until it is loaded, or undefined if there is nothing left to do, or nobody to do it. */
export function useFirstSteps(): Steps | 'unknown' | undefined {
  const { store } = useSession();
  const { is_admin, user_id } = store.me;
  isHidden.value ??= localStorage.getItem(hiddenKey(user_id)) !== null;
  if (!is_admin || isHidden.value) return undefined;
  const setup = store.setup.value;
  if (!setup || !store.isReady.value) return 'unknown';
  const chats = [...store.chats.value.values()];
  const steps = {
    isNamed: store.serviceName.value !== unnamed,
    isInvited: setup.isInvited || chats.some(({ participant_count }) => participant_count > 1),
    hasSent:
      localStorage.getItem(sentKey(user_id)) !== null ||
      chats.some(({ last_message }) => last_message?.user_id === user_id),
    isConnected: setup.isConnected,
  };
  return Object.values(steps).every(Boolean) ? undefined : steps;
}
