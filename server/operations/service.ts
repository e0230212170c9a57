import { record } from '../auth/audit.ts';
import { readService, updateService } from '../store/access/service.ts';
import { accessChatTo } from './access.ts';
import { actorOf, change, type Handlers, type Services } from './operation.ts';
import { requireStillAdministrator } from './users.ts';

export const serviceHandlers = (services: Services) =>
  ({
    'service.get': async () => ({ service: await readService(services.engine) }),

    'service.update': change(services, async (tx, at, call) => {
      const { caller, input } = call;
      await requireStillAdministrator(tx, caller);
      const before = await readService(tx);
      const { name = before.name, welcome_chat_id = before.welcome_chat_id } = input;
      if (welcome_chat_id !== null && welcome_chat_id !== before.welcome_chat_id) {
        await accessChatTo(tx, 'manage_participants', caller.userId, welcome_chat_id);
      }
      const service = { name, welcome_chat_id };
      if (Bun.deepEquals(service, before)) return { service };
      await updateService(tx, service);
      await record(tx, at, actorOf(call), 'service_changed', service);
      return { service };
    }),
  }) satisfies Partial<Handlers>;
