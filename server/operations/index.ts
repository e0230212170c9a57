import { appHandlers } from './apps.ts';
import { chatHandlers } from './chats.ts';
import { createChatHandlers } from './create-chat.ts';
import { deliveryHandlers } from './deliveries.ts';
import { eventHandlers } from './events.ts';
import { fileHandlers } from './files.ts';
import { whileThereIsRoom } from './growth.ts';
import { messageHandlers } from './messages.ts';
import type { Gates, Handlers, Services } from './operation.ts';
import { participantHandlers } from './participants.ts';
import { profileHandlers } from './profiles.ts';
import { reactionHandlers } from './reactions.ts';
import { markRead } from './read-marks.ts';
import { replayHandlers } from './replays.ts';
import { requireMayPost, sendMessage } from './send.ts';
import { tokenHandlers } from './tokens.ts';
import { userHandlers } from './users.ts';
import { webhookHandlers } from './webhooks.ts';

/** Returns the function of each row of the contract. A row without one does not typecheck. */
export const buildHandlers = (services: Services): Handlers =>
  whileThereIsRoom(services, {
    'messages.send_message': sendMessage(services),
    'messages.mark_read': markRead(services),
    ...messageHandlers(services),
    ...reactionHandlers(services),
    ...createChatHandlers(services),
    ...chatHandlers(services),
    ...participantHandlers(services),
    ...webhookHandlers(services),
    ...deliveryHandlers(services),
    ...replayHandlers(services),
    ...eventHandlers(services),
    ...fileHandlers(services),
    ...userHandlers(services),
    ...profileHandlers(services),
    ...tokenHandlers(services),
    ...appHandlers(services),
  });

export const buildGates = (services: Services): Gates => ({ 'messages.send_message': requireMayPost(services) });
