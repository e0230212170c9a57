/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { countsIn } from './shared/counts.ts';
import { en as shared } from './shared/en.ts';

const language = 'en';
const { number, decimal, plural, upTo, list } = countsIn(language);

/**
 * All that people read and hear in the client, by view. A text with a value in it is a function, so that the words around the
 * value can be in the order of the language. If the value is an element, such as a name, the text is one too.
 *
 * Names of emoji are in `ui/emoji-names.ts`: people type them, and they are the same in all languages.
 */
export const en = {
  language,

  /** Texts of several views. */
  common: {
    allChats: 'All chats',
    browseChannels: 'Browse channels',
    cancel: shared.cancel,
    close: 'Close',
    deletedMessage: 'Message deleted',
    findChannels: 'Find channels',
    goToChats: shared.goToChats,
    goToChat: 'Go to a chat',
    inChat: (name: ComponentChildren): ComponentChildren => <>in {name}</>,
    messageWasDeleted: 'This message was deleted.',
    people: (count: number) => plural(count, { one: '# person', other: '# people' }),
    remove: (name: string) => `Remove ${name}`,
    replies: (count: number) => plural(count, { one: '# reply', other: '# replies' }),
    save: 'Save',
    showMore: 'Show more',
    startChat: 'Start a chat',
    tryAgain: shared.tryAgain,
  },

  presence: { online: 'online', away: 'away', offline: 'offline' },

  time: { today: 'Today', yesterday: 'Yesterday' },

  page: {
    /** The title of the browser's tab. */
    title: ({ page, service, unreadChats }: { page: string; service: string; unreadChats: number }) =>
      `${unreadChats > 0 ? `(${number(unreadChats)}) ` : ''}${page === '' ? '' : `${page} · `}${service}`,
  },

  welcome: {
    hello: (name: string) => `Hello, ${name}`,
    setUp: 'A few steps, and people can write to each other here.',
    firstChat: 'Write to somebody, or join a channel that is open to everyone.',
    chooseChat: (): ComponentChildren => (
      <>
        Choose a chat, or press <kbd>Ctrl</kbd> <kbd>K</kbd> to find one.
      </>
    ),
  },

  problems: {
    /** What failed, then why. */
    because: ({ failed, cause }: { failed: string; cause: string }) => `${failed} ${cause}`,
    /** The words of the server about a field continue a sentence. */
    field: ({ label, problem }: { label: string; problem: string }) => `${label} ${problem}.`,
    causes: {
      offline: 'The server did not respond. Check your connection.',
      rate_limited: 'That was a lot at once. Wait a moment.',
      internal: 'Something went wrong on the server.',
    },
    dismiss: 'Dismiss',
  },

  messageLink: {
    missing: 'You cannot see this message',
    missingHint: 'It does not exist, or it is in a chat that you are not in. Ask the person who sent you the link.',
    offline: 'The message could not be loaded',
    offlineHint: 'The server did not respond. Check your connection.',
  },

  sidebar: {
    newChat: 'New chat',
    search: 'Search',
    lost: 'Reconnecting… Messages are sent when the server is back.',
    outdated: 'There is a new version.',
    reload: 'Reload',
    settings: shared.settings,
    invite: 'Invite',
    shortcuts: 'Keyboard shortcuts',
    signOut: shared.signOut,
  },

  signOut: {
    failed: 'You are still signed in.',
    unsent: (count: number) =>
      plural(count, {
        one: '# message is not sent yet. It is deleted if you sign out now.',
        other: '# messages are not sent yet. They are deleted if you sign out now.',
      }),
    anyway: 'Sign out anyway',
    stay: 'Stay',
  },

  attachments: {
    size: {
      bytes: (count: number) => plural(count, { one: '# byte', other: '# bytes' }),
      KB: (amount: number) => `${amount >= 10 ? number(amount) : decimal(amount)} KB`,
      MB: (amount: number) => `${amount >= 10 ? number(amount) : decimal(amount)} MB`,
      GB: (amount: number) => `${amount >= 10 ? number(amount) : decimal(amount)} GB`,
    },
  },

  /** Shown while the server is away and nothing is stored. */
  away: {
    title: 'The server does not respond',
    hint: 'Check your connection. The page opens by itself once the server is back.',
  },

  browse: {
    find: 'Find a channel',
    open: 'Open',
    join: 'Join',
    create: 'Create a channel',
    none: 'No public channels yet',
    noneHint: 'A channel is for news: its owner and admins write, and everyone can join and read.',
    noneFound: 'No channel has this name',
    noneFoundHint: 'Private channels are not listed. Somebody in them can add you.',
    showAll: 'Show all channels',
    failed: 'The channels could not be loaded.',
    moreFailed: 'There are more channels, but they could not be loaded.',
    joinFailed: 'You did not join the channel.',
  },

  chat: {
    /** The name of a direct chat whose other side is unknown. */
    direct: 'Direct chat',
    messageGone: 'This message is not here any more.',
    search: 'Search in this chat',
    people: 'People',
    options: 'Options of this chat',
    missing: 'You cannot see this chat',
    missingHint: 'It does not exist, or you are not in it. Ask somebody in it to add you.',
    removed: 'You are not in this chat any more',
    removedHint: 'You were removed, or you left it on another device. Ask somebody in it to add you again.',
    /** Above what was written there and not sent. */
    unsent: 'What you wrote there was not sent:',
    copyUnsent: 'Copy the text',
    copied: 'Copied',
    failed: 'The messages could not be loaded.',
    away: 'The server does not respond',
    awayHint: 'This chat is not stored in this browser. It appears by itself as soon as the server is back.',
  },

  chatList: {
    label: 'Chats',
    empty: 'No chats yet. Start one, or browse the channels that everyone can join.',
    away: 'The server does not respond. Your chats appear here as soon as it is back.',
    archived: 'Archived',
    archivedCount: ({ count, unread }: { count: number; unread: number }) =>
      unread > 0 ? `${number(count)}, ${number(unread)} unread` : number(count),
    /** Something about a chat, after its name. Screen readers pause at the commas. */
    aside: (about: string) => `, ${about}, `,
    muted: 'muted',
    pinned: 'pinned',
    mentionCount: (count: number) => `@${upTo(99, count)}`,
    /** Read before the number of unread messages. */
    mentions: (count: number) => plural(count, { one: '# mention, ', other: '# mentions, ' }),
    unreadCount: (count: number) => upTo(99, count),
    /** Read after that number. */
    unread: ' unread',
    options: (chat: string) => `Options of ${chat}`,
    draft: 'Draft:',
    noMessages: 'No messages yet',
    you: 'You',
    /** Before the text of a message. */
    author: (name: ComponentChildren): ComponentChildren => <>{name}: </>,
  },

  chatMenu: {
    markRead: 'Mark as read',
    edit: 'Edit name and description',
    hooks: 'Incoming webhooks',
    pin: 'Pin to the top',
    unpin: 'Unpin from the top',
    archive: 'Archive',
    unarchive: 'Move out of the archive',
    muteHours: (count: number) => plural(count, { one: 'Mute for # hour', other: 'Mute for # hours' }),
    mute: 'Mute',
    unmute: 'Unmute',
    notifyAll: 'Notify about all messages',
    notifyMentions: 'Notify about mentions',
    notifyNever: 'Never notify',
    failed: 'This setting was not saved.',
    markReadFailed: 'The chat was not marked as read.',
  },

  completion: { emoji: 'Emoji', everyone: 'Everyone', people: 'People' },

  composer: {
    closed: 'Only the owner and admins write in this channel.',
    replyTo: (name: ComponentChildren): ComponentChildren => <>Reply to {name}:</>,
    cancelReply: 'Cancel the reply',
    drop: 'Drop files to attach them',
    files: 'Files',
    attach: 'Attach files',
    message: 'Message',
    messageTo: (chat: string) => `Message ${chat}`,
    replyInThread: 'Reply in the thread',
    send: 'Send',
    sendInThread: 'Answer in the thread',
  },

  deleteDialog: {
    title: 'Delete message',
    question: 'Delete this message for everyone? This cannot be undone.',
    delete: 'Delete',
  },

  editChat: {
    title: 'Edit name and description',
    description: 'Description',
  },

  editForm: {
    label: 'Edit message',
    empty: 'A message needs a text. To remove it, delete it.',
    tooLong: 'This text is too long. Shorten it.',
    gone: 'This message was deleted, so it cannot be changed any more.',
  },

  emptyChat: {
    nothingPosted: 'Nothing has been posted yet. New posts appear here.',
    direct: 'Only the two of you see what is written here.',
    alone: 'Nobody else is here yet. Add people, then write the first message.',
    first: 'Write the first message. Everyone in this chat sees it.',
    write: 'Write a message',
    addPeople: 'Add people',
  },

  firstSteps: {
    title: 'First steps',
    name: 'Name your place',
    nameLabel: 'Name of the service',
    nameExample: 'Lovelace Ltd',
    withGroup: 'With a group “Everyone” that new people join by themselves',
    /** The name of that group. */
    group: 'Everyone',
    invite: 'Invite someone',
    createLink: 'Create a link',
    send: 'Send a message',
    open: (chat: ComponentChildren): ComponentChildren => <>Open {chat}</>,
    connect: 'Connect a webhook',
    connectHint: (link: (words: string) => ComponentChildren): ComponentChildren => (
      <>{link('Register a URL')}, and your programs get every event there.</>
    ),
    /** Read after the title of a step. */
    done: ', done',
    hide: 'Hide these steps',
  },

  help: {
    title: 'Keyboard shortcuts',
    keys: {
      switcher: { keys: 'Ctrl K or ⌘ K', act: 'Go to a chat' },
      send: { keys: 'Enter', act: 'Send the message' },
      newLine: { keys: 'Shift Enter', act: 'Start a new line' },
      editLast: { keys: '↑', act: 'Edit your last message, if the composer is empty' },
      escape: { keys: 'Esc', act: 'Mark the chat as read, or cancel' },
      messages: { keys: 'j and k', act: 'Next and previous message' },
      chats: { keys: 'Alt ↓ and Alt ↑', act: 'Next and previous chat' },
      help: { keys: '?', act: 'This help' },
    },
  },

  invite: {
    title: (service: string) => `Invite somebody to ${service}`,
    note: 'Who is it for? (optional)',
    noteAbout: 'Only administrators see this.',
    /** Before what the server says about it. */
    theNote: 'The note',
    create: 'Create an invitation',
    hint: 'Send this link, or let somebody scan it. It works once, for seven days.',
    hintLink: 'Send this link. It works once, for seven days.',
    onlyHere:
      'Only this computer can open the link, because the server accepts no connections from others yet. Whoever runs it can change that.',
    link: 'Link of the invitation',
    copy: 'Copy',
    copied: 'Copied',
    another: 'Invite another person',
    qrCode: 'QR code of the link',
  },

  jumpToDate: {
    title: 'Jump to date',
    day: 'Day',
    jump: 'Jump',
    noDay: 'Choose a day.',
    noMessages: 'There are no messages on this day or later.',
  },

  /** Instead of a view that could not be loaded. */
  later: {
    failed: 'This view could not be loaded',
    failedHint: 'Check your connection, and load the page again.',
  },

  lightbox: {
    label: 'View picture',
    by: ({ name, time }: { name: ComponentChildren; time: string }): ComponentChildren => (
      <>
        {name}, {time}
      </>
    ),
    place: ({ at, count }: { at: number; count: number }) => `${number(at)} of ${number(count)}`,
    download: 'Download',
    previous: 'Previous picture',
    next: 'Next picture',
  },

  message: {
    pinned: 'Pinned',
    edited: '(edited)',
    lastReply: (time: string) => `Last reply ${time}`,
    earlier: 'An earlier message',
    actions: 'Message actions',
    react: 'React',
    reply: 'Reply',
    openThread: 'Open the thread',
    copyLink: 'Copy link',
    linkCopied: 'Link copied',
    pin: 'Pin',
    pinFailed: 'The message was not pinned.',
    unpin: 'Unpin',
    edit: 'Edit',
    delete: 'Delete',
    sending: 'Sending…',
    uploading: 'Uploading…',
    /** Why a message waits whose files were not uploaded, and what to do. */
    filesFailed: (count: number) =>
      plural(count, {
        one: 'This message is not sent, because a file was not uploaded. Remove the file to send the rest.',
        other: 'This message is not sent, because # files were not uploaded. Remove the files to send the rest.',
      }),
    /** Why messages wait that are sent later by themselves. */
    delays: {
      rate_limited: 'You have sent a lot at once. Your messages are sent by themselves in a moment.',
      other: (cause: string) => `${cause} Your messages are sent by themselves when the server takes them again.`,
    },
    /** Why the server did not take a message, and what to do. */
    refusals: {
      notAllowed: 'You may not write in this chat any more. Ask its owner.',
      removed: 'You are not in this chat any more. Ask somebody in it to add you again.',
      tooLong: 'This message is too long. Shorten it, or send it in parts.',
      fileGone: 'A file of this message is not on the server any more. Attach it again.',
      replyGone: 'The message that you replied to is gone. Send this one without it.',
      quota: 'You have sent as many messages as this server allows in a day. Try again tomorrow.',
      other: (cause: string) => `The server did not take this message. ${cause}`,
    },
    putBack: 'Edit',
    old: (time: string) => `You wrote this on ${time}. Send it now?`,
    sendNow: 'Send now',
    discard: 'Discard',
  },

  messageList: {
    label: 'Messages',
    toEnd: 'Newest messages',
    new: 'New',
    startOfDirect: 'This is the start of your conversation.',
    start: 'This is the start of the chat.',
    olderFailed: 'Earlier messages could not be loaded.',
    newerFailed: 'Newer messages could not be loaded.',
    /** Tells screen readers about a new message. */
    said: ({ name, message }: { name: string; message: string }) => `${name}: ${message}`,
  },

  newChat: {
    kind: 'Kind of chat',
    kinds: {
      direct: { label: 'Direct', title: 'New direct chat', act: 'Start the chat' },
      group: { label: 'Group', title: 'New group', act: 'Create the group' },
      channel: { label: 'Channel', title: 'New channel', act: 'Create the channel' },
    },
    name: 'Name',
    private: 'Private: only people who are added can read it',
  },

  notice: {
    inChat: ({ author, chat }: { author: string; chat: string }) => `${author} in ${chat}`,
    message: 'New message',
    mention: 'You were mentioned',
  },

  people: {
    title: 'People',
    participants: 'Participants',
    failed: 'The people could not be loaded.',
    role: (name: string) => `Role of ${name}`,
    roles: { owner: 'Owner', admin: 'Admin', member: 'Member' },
    questions: {
      owner: {
        question: (name: ComponentChildren): ComponentChildren => (
          <>Make {name} an owner of this chat? Owners decide everything in it, and can take your own role away.</>
        ),
        confirm: 'Make owner',
      },
      remove: {
        question: (name: ComponentChildren): ComponentChildren => <>Remove {name} from this chat?</>,
        confirm: 'Remove',
      },
    },
    toAdd: 'People to add',
    add: 'Add people',
    leaveChat: 'Leave the chat',
    leavePublic: 'Leave this chat? You can join it again.',
    leavePrivate: 'Leave this chat? You can come back only if somebody adds you.',
    stay: 'Stay',
    leave: 'Leave',
  },

  peoplePicker: {
    label: 'People',
    find: 'Find by name',
    found: 'People found',
    none: 'Nobody here has this name.',
    allChosen: 'Everyone with this name is already chosen or in the chat.',
    failed: 'Nobody could be looked up.',
  },

  pins: {
    title: 'Pinned messages',
    count: (count: number) => `Pinned messages, ${number(count)}`,
    unpin: 'Unpin',
    failed: 'The pinned messages could not be loaded.',
    unpinFailed: 'The message is still pinned.',
  },

  reactions: {
    label: 'Reactions',
    count: ({ emoji, count }: { emoji: string; count: number }) => `${emoji} ${number(count)}`,
    failed: 'Your reaction was not saved.',
    add: 'Add a reaction',
    find: 'Find an emoji by name',
    none: 'No emoji has this name.',
    you: 'You',
    /** The names of those who reacted, and the words between them. */
    by: ({ names, others }: { names: readonly string[]; others: number }): readonly (string | { name: string })[] => {
      const rest = others > 0 ? [plural(others, { one: '# other', other: '# others' })] : [];
      return list([...names, ...rest]).map(({ type, value }, i) =>
        type === 'element' && i / 2 < names.length ? { name: value } : value,
      );
    },
  },

  search: {
    label: 'Search results',
    title: 'Search messages',
    titleIn: (chat: ComponentChildren): ComponentChildren => <>Search in {chat}</>,
    words: 'Words that the message contains',
    search: 'Search',
    nobody: (name: string) => `There is nobody called ${name}.`,
    start: 'Search what was written',
    startHint: 'Type words, then press Enter. A message is found if it has all of them.',
    none: 'No message matches',
    noneOfNewest: 'None of the newest messages with these words matches',
    noneHint: 'Check the spelling, or use fewer words.',
    filteredHint: 'Without the filters there may be more.',
    removeFilters: 'Remove the filters',
    everywhere: 'Search in all chats',
    chat: 'In',
    from: 'From',
    anybody: 'Anybody',
    before: 'Before',
    hasFile: 'Has a file',
    failed: 'The search did not work.',
    moreFailed: 'There are more, but they could not be loaded.',
  },

  switcher: {
    label: 'Name of a chat',
    placeholder: 'Name of a chat or a person',
    chats: 'Chats and people',
    archived: 'archived',
    none: 'No chat and nobody here has this name.',
    failed: 'The chat was not started.',
    unread: (count: number) => `${number(count)} unread`,
  },

  thread: {
    title: 'Thread',
    close: 'Close the thread',
    replies: 'Replies',
    noReplies: 'No replies yet',
    earlier: 'Show earlier replies',
    earlierFailed: 'Earlier replies could not be loaded.',
    failed: 'The thread could not be loaded.',
    gone: 'This thread does not exist any more.',
  },

  threads: {
    title: 'Threads',
    unreadCount: (count: number) => upTo(9, count),
    unread: (count: number) => `Threads, ${upTo(9, count)} unread`,
    list: 'Your threads',
    none: 'No threads yet',
    noneHint: 'Choose “Open the thread” on a message and reply there. The threads in which you write are listed here.',
    new: (count: number) => `${number(count)} new`,
    failed: 'Your threads could not be loaded.',
    moreFailed: 'There are older threads, but they could not be loaded.',
  },

  typing: {
    label: 'Typing',
    typing: 'typing…',
    one: (name: ComponentChildren): ComponentChildren => <>{name} is typing…</>,
    two: ({ first, second }: { first: ComponentChildren; second: ComponentChildren }): ComponentChildren => (
      <>
        {first} and {second} are typing…
      </>
    ),
    many: ({ first, others }: { first: ComponentChildren; others: number }): ComponentChildren => (
      <>
        {first} {plural(others, { one: 'and # other', other: 'and # others' })} are typing…
      </>
    ),
  },

  uploads: {
    label: 'Attached files',
    uploaded: 'Uploaded',
    progress: (name: string) => `Upload of ${name}`,
    retry: (name: string) => `Retry ${name}`,
    cancel: (name: string) => `Cancel ${name}`,
    empty: 'This file is empty.',
    disconnected: 'The connection was lost. The upload goes on by itself when it is back.',
    tooLarge: (size: string) => `A file may have ${size} here at most. Choose a smaller one.`,
    tooLargeAnyway: 'This file is larger than the server allows. Choose a smaller one.',
    quota: 'You have no room for more files here. Delete messages with files, or send those that wait in other chats.',
    failed: 'Something went wrong on the server. Try again.',
    lost: 'The page was closed before this file was uploaded. Remove it, and attach it again.',
    /** The name of a file that has none. */
    unnamed: 'file',
  },
};
