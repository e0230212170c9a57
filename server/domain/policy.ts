import type { ChatType, Role } from '@parley/contract';

export type Act =
  | 'read'
  | 'react'
  | 'leave'
  | 'send'
  | 'pin'
  | 'delete_any'
  | 'update'
  | 'manage_participants'
  | 'set_role';

const everyone: readonly Role[] = ['owner', 'admin', 'member'];
const admins: readonly Role[] = ['owner', 'admin'];
const owner: readonly Role[] = ['owner'];
const nobody: readonly Role[] = [];

/**
 * The roles that may do each act, by type of chat. Both sides of a direct chat are members. Editing is missing because
 * only the author may edit, whatever their role.
 */
const rules: Readonly<Record<Act, Readonly<Record<ChatType, readonly Role[]>>>> = {
  read: { direct: everyone, group: everyone, channel: everyone },
  react: { direct: everyone, group: everyone, channel: everyone },
  leave: { direct: nobody, group: everyone, channel: everyone },
  send: { direct: everyone, group: everyone, channel: admins },
  pin: { direct: everyone, group: everyone, channel: admins },
  delete_any: { direct: nobody, group: admins, channel: admins },
  update: { direct: nobody, group: admins, channel: admins },
  manage_participants: { direct: nobody, group: admins, channel: admins },
  set_role: { direct: nobody, group: owner, channel: owner },
};

export function may(act: Act, type: ChatType, role: Role): boolean {
  return rules[act][type].includes(role);
}

/** The message for the caller who may not. */
export const refusals: Readonly<Record<Act, string>> = {
  read: 'You are not a participant of this chat.',
  react: 'You are not a participant of this chat.',
  leave: 'A direct chat cannot be left.',
  send: 'Only the owner and admins of this channel may post in it.',
  pin: 'Only the owner and admins of this channel may pin messages in it.',
  delete_any: 'Only its author, or the owner and admins of its group or channel, may delete this message.',
  update: 'Only the owner and admins of a group or channel may change it.',
  manage_participants: 'Only the owner and admins of a group or channel may add and remove participants.',
  set_role: 'Only an owner may set roles.',
};
