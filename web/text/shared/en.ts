/**
 * Words of the web client that the account pages of the server have too (`server/pages/text/en.tsx`), by the rules of `../en.tsx`.
 * The server reads this folder, so nothing of the client is imported here.
 */
export const en = {
  cancel: 'Cancel',
  goToChats: 'Go to your chats',
  settings: 'Settings',
  signOut: 'Sign out',
  tryAgain: 'Try again',
};
