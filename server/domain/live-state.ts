/**
 * Typing and presence are told in chats of at most so many participants. In larger ones each change would cost as much as a
 * message, and say little.
 */
export const maxLiveParticipants = 100;
