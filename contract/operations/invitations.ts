import { z } from 'zod';
import { invitationId, title } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { invitation } from '../records.ts';

const forGrace = {
  invitation_id: 2,
  note: 'For Grace',
  created_by: 1,
  created_at: '2026-01-01T12:00:00.000Z',
  expires_at: '2026-01-08T12:00:00.000Z',
};

export const invitations = (_limits: Limits) => ({
  create: post(['admin'], {
    summary: 'Create a link with which one person can sign up. It is shown only once.',
    input: z.strictObject({
      note: title.optional().meta({ description: 'for administrators only; for example, who it is for' }),
    }),
    output: z.object({ invitation, url: z.string().meta({ description: 'the link, which works once' }) }),
    errors: ['conflict'],
    example: {
      input: { note: 'For Grace' },
      output: { invitation: { ...forGrace, invitation_id: 3 }, url: 'http://127.0.0.1:8080/invitation/EXAMPLE' },
    },
  }),
  list: get(['admin'], {
    summary: 'List the invitations that can still be used, at most 1,000, the newest first.',
    input: z.strictObject({}),
    output: z.object({ invitations: z.array(invitation) }),
    errors: [],
    example: { input: {}, output: { invitations: [forGrace] } },
  }),
  withdraw: post(['admin'], {
    summary: 'Withdraw an invitation.',
    input: z.strictObject({ invitation_id: invitationId }),
    output: z.object({ invitation_id: invitationId }),
    errors: ['not_found'],
    example: { input: { invitation_id: 2 }, output: { invitation_id: 2 } },
  }),
});
