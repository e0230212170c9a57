import { createInvitation, withdrawInvitation } from '../auth/links.ts';
import { listLinks } from '../store/access/links.ts';
import { actorOf, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';
import { requireStillAdministrator } from './users.ts';

export const invitationHandlers = (services: Services) =>
  ({
    'invitations.create': async (call) => {
      const { link, secret } = await createInvitation(
        services,
        services.signUp,
        actorOf(call),
        call.input.note ?? '',
        (tx) => requireStillAdministrator(tx, call.caller),
      );
      return { invitation: present.invitation(link), url: services.invitationLink(secret) };
    },

    'invitations.list': async () => {
      const links = await listLinks(services.engine, 'invitation', services.now());
      return { invitations: links.map(present.invitation) };
    },

    'invitations.withdraw': async (call) => {
      await withdrawInvitation(services, actorOf(call), call.input.invitation_id, (tx) =>
        requireStillAdministrator(tx, call.caller),
      );
      return { invitation_id: call.input.invitation_id };
    },
  }) satisfies Partial<Handlers>;
