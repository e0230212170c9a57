import { type Signal, signal } from '@preact/signals';
import type { ChatRecord } from '../store/records.ts';

/** The windows that any view can open. */
export type DialogRequest =
  | { readonly name: 'new'; readonly kind?: ChatRecord['type'] }
  | { readonly name: 'switcher' }
  | { readonly name: 'help' }
  | { readonly name: 'invite' }
  | { readonly name: 'people' | 'date' | 'edit' | 'hooks'; readonly chatId: number };

export const openDialog: Signal<DialogRequest | undefined> = signal(undefined);

/** Returns whether a window or a menu is open. The keys are for it then. A tooltip takes none. */
export const isWindowOpen = (): boolean =>
  document.querySelector('dialog[open], :popover-open:not([role="tooltip"])') !== null;

export const startChat = (kind?: ChatRecord['type']): void => {
  openDialog.value = { name: 'new', ...(kind && { kind }) };
};

/** Closes the window about a chat that is not shown any more. */
export const closeDialogOf = (chatId: number): void => {
  const dialog = openDialog.peek();
  if (dialog && 'chatId' in dialog && dialog.chatId === chatId) openDialog.value = undefined;
};
