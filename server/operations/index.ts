import { administrationHandlers } from './administration.ts';
import { appHandlers } from './apps.ts';
import { botHandlers } from './bots.ts';
import { chatListHandlers } from './chat-lists.ts';
import { chatHandlers } from './chats.ts';
import { createChatHandlers } from './create-chat.ts';
import { deliveryHandlers } from './deliveries.ts';
import { eventHandlers } from './events.ts';
import { fileHandlers } from './files.ts';
import { whileThereIsRoom } from './growth.ts';
import { hookHandlers } from './hooks.ts';
import { invitationHandlers } from './invitations.ts';
import { mentionHandlers } from './mentions.ts';
import { messageHandlers } from './messages.ts';
import type { Gates, Handlers, Services } from './operation.ts';
import { participantHandlers } from './participants.ts';
import { pinHandlers } from './pins.ts';
import { preferenceHandlers } from './preferences.ts';
import { presenceHandlers } from './presence.ts';
import { profileHandlers } from './profiles.ts';
import { pushHandlers } from './push.ts';
import { reactionHandlers } from './reactions.ts';
import { markRead } from './read-marks.ts';
import { replayHandlers } from './replays.ts';
import { requireMayPost, sendMessage } from './send.ts';
import { serviceHandlers } from './service.ts';
import { threadHandlers } from './threads.ts';
import { tokenHandlers } from './tokens.ts';
import { typing } from './typing.ts';
import { userHandlers } from './users.ts';
import { webhookHandlers } from './webhooks.ts';

/** Returns the function of each row of the contract. A row without one does not typecheck. */
export const buildHandlers = (services: Services): Handlers =>
  whileThereIsRoom(services, {
    'messages.send_message': sendMessage(services),
    'messages.mark_read': markRead(services),
    ...messageHandlers(services),
    ...reactionHandlers(services),
    ...pinHandlers(services),
    ...mentionHandlers(services),
    ...threadHandlers(services),
    ...createChatHandlers(services),
    ...chatHandlers(services),
    'chats.typing': typing(services),
    ...chatListHandlers(services),
    ...preferenceHandlers(services),
    ...participantHandlers(services),
    ...webhookHandlers(services),
    ...deliveryHandlers(services),
    ...replayHandlers(services),
    ...hookHandlers(services),
    ...eventHandlers(services),
    ...fileHandlers(services),
    ...pushHandlers(services),
    ...userHandlers(services),
    ...presenceHandlers(services),
    ...profileHandlers(services),
    ...tokenHandlers(services),
    ...appHandlers(services),
    ...botHandlers(services),
    ...invitationHandlers(services),
    ...serviceHandlers(services),
    ...administrationHandlers(services),
  });

export const buildGates = (services: Services): Gates => ({ 'messages.send_message': requireMayPost(services) });
