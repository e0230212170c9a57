import { getChat, listOfChats, updateOfChat } from './chats.ts';
import { createChannel, createDirect, createGroup } from './create-chat.ts';
import { getDelivery, listOfDeliveries, redeliver, skip } from './deliveries.ts';
import { listEvents, streamEvents } from './events.ts';
import { downloadFile, getFile, uploadFile } from './files.ts';
import { deleteMessage, editMessage, getMessage, getMessages, searchInMessages } from './messages.ts';
import type { Gates, Handlers, Services } from './operation.ts';
import { addParticipants, join, leave, participants, removeParticipant, setRole } from './participants.ts';
import { addReaction, removeReaction } from './reactions.ts';
import { readMarker } from './read-marks.ts';
import { listOfReplays, startReplay } from './replays.ts';
import { mayPost, sender } from './send.ts';
import { createToken, listOfTokens, revokeOneToken } from './tokens.ts';
import { createUser, disableOneUser, getUser, me, searchForUsers } from './users.ts';
import {
  deleteOneWebhook,
  getWebhook,
  listOfWebhooks,
  registerWebhook,
  rotateSecretOf,
  testWebhook,
  updateOfWebhook,
} from './webhooks.ts';

/** The function behind each row of the contract. A row without one does not typecheck. */
export const buildHandlers = (services: Services): Handlers => ({
  'messages.send_message': sender(services),
  'messages.get_messages': getMessages(services),
  'messages.get_message': getMessage(services),
  'messages.edit_message': editMessage(services),
  'messages.delete_message': deleteMessage(services),
  'messages.search_messages': searchInMessages(services),
  'messages.mark_read': readMarker(services),
  'messages.add_reaction': addReaction(services),
  'messages.remove_reaction': removeReaction(services),
  'messages.create_group': createGroup(services),
  'messages.create_channel': createChannel(services),
  'messages.create_direct': createDirect(services),
  'chats.list': listOfChats(services),
  'chats.get': getChat(services),
  'chats.update': updateOfChat(services),
  'chats.participants': participants(services),
  'chats.add_participants': addParticipants(services),
  'chats.remove_participant': removeParticipant(services),
  'chats.set_role': setRole(services),
  'chats.join': join(services),
  'chats.leave': leave(services),
  'webhooks.register': registerWebhook(services),
  'webhooks.list': listOfWebhooks(services),
  'webhooks.get': getWebhook(services),
  'webhooks.update': updateOfWebhook(services),
  'webhooks.rotate_secret': rotateSecretOf(services),
  'webhooks.delete': deleteOneWebhook(services),
  'webhooks.test': testWebhook(services),
  'webhooks.deliveries': listOfDeliveries(services),
  'webhooks.delivery': getDelivery(services),
  'webhooks.redeliver': redeliver(services),
  'webhooks.skip': skip(services),
  'webhooks.replay': startReplay(services),
  'webhooks.replays': listOfReplays(services),
  'events.list': listEvents(services),
  'events.stream': streamEvents(services),
  'files.upload': uploadFile(services),
  'files.get': getFile(services),
  'files.download': downloadFile(services),
  'users.me': me(services),
  'users.get': getUser(services),
  'users.search': searchForUsers(services),
  'users.create': createUser(services),
  'users.disable': disableOneUser(services),
  'tokens.list': listOfTokens(services),
  'tokens.create': createToken(services),
  'tokens.revoke': revokeOneToken(services),
});

export const buildGates = (services: Services): Gates => ({ 'messages.send_message': mayPost(services) });
