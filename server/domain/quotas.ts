import { ParleyError } from '@parley/contract';

/** The limits of a person together with their bots. Undefined means no limit. */
export interface Quotas {
  readonly fileBytes: number | undefined;
  readonly dailyMessages: number | undefined;
  readonly chats: number | undefined;
  readonly bots: number | undefined;
}

const words: Readonly<Record<keyof Quotas, (limit: number) => string>> = {
  fileBytes: (limit) =>
    `Your files and those of your bots may have ${limit} bytes together (PARLEY_FILE_BYTES_PER_PERSON). Delete messages with files, or wait until unused files expire.`,
  dailyMessages: (limit) =>
    `You and your bots have sent ${limit} messages today, other changes included, as many as PARLEY_MESSAGES_PER_DAY allows. The next day begins at 00:00 UTC.`,
  chats: (limit) => `You and your bots have created ${limit} chats, as many as PARLEY_CHATS_PER_PERSON allows.`,
  bots: (limit) => `You have ${limit} bots, as many as PARLEY_BOTS_PER_PERSON allows. Disable one first.`,
};

/** Throws `conflict` if the use, the new one included, is above the quota. */
export function requireWithin(quotas: Quotas, name: keyof Quotas, use: number): void {
  const limit = quotas[name];
  if (limit !== undefined && use > limit) throw new ParleyError('conflict', words[name](limit));
}
