import type { Quotas } from '../../domain/quotas.ts';

export const noQuotas: Quotas = { fileBytes: undefined, dailyMessages: undefined, chats: undefined, bots: undefined };
