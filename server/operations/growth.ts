import type { OperationName } from '@parley/contract';
import type { Handler, Handlers, Services } from './operation.ts';

/** Operations that add data. They are refused while the disk is almost full. All others free space, or need next to none. */
export const growing: ReadonlySet<OperationName> = new Set<OperationName>([
  'messages.send_message',
  'messages.edit_message',
  'messages.add_reaction',
  'messages.pin',
  'messages.create_group',
  'messages.create_channel',
  'messages.create_direct',
  'chats.update',
  'chats.set_preferences',
  'chats.add_participants',
  'chats.join',
  'webhooks.register',
  'webhooks.test',
  'webhooks.redeliver',
  'webhooks.replay',
  'hooks.create',
  'files.upload',
  'push.subscribe',
  'users.create',
  'users.update',
  'users.set_avatar',
  'users.remove_avatar',
  'tokens.create',
  'apps.register',
  'apps.update',
  'bots.create',
  'bots.create_token',
  'invitations.create',
]);

/** Returns the handlers. Those of growing operations throw `unavailable` while there is no room. */
export function whileThereIsRoom({ requireRoom }: Services, handlers: Handlers): Handlers {
  const guarded = (name: OperationName, handler: Handler<OperationName>): Handler<OperationName> =>
    growing.has(name)
      ? (call) => {
          requireRoom();
          return handler(call);
        }
      : handler;
  const entries = Object.entries(handlers) as [OperationName, Handler<OperationName>][];
  return Object.fromEntries(entries.map(([name, handler]) => [name, guarded(name, handler)])) as unknown as Handlers;
}
