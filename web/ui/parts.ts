/**
 * What the client shows only when somebody asks for it. It is one part, which is loaded after the first chat: each part more
 * would split what they share with the rest, and small files compress badly.
 */
export { Absent, NotLoaded } from './absent.tsx';
export { AppDialog } from './app-dialogs.tsx';
export { BrowseView } from './browse-view.tsx';
export { ChatDialogs } from './chat-dialogs.tsx';
export { EmptyChat } from './empty-chat.tsx';
export { FirstStepsList } from './first-steps-list.tsx';
export { MessageLink } from './message-link.tsx';
export { PinList } from './pin-list.tsx';
export { ReactionPicker } from './reaction-picker.tsx';
export { ReactorsTip } from './reactors-tip.tsx';
export { SearchView } from './search-view.tsx';
export { SettingsView } from './settings/settings-view.tsx';
export { SignOutDialog } from './sign-out-dialog.tsx';
export { ThreadsView } from './threads-view.tsx';
export { Tray } from './tray.tsx';
