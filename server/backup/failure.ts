/** Why something cannot be backed up or restored; its message is a plain line for the operator. */
export class BackupError extends Error {}

export const damaged = (how: string, cause?: unknown) =>
  new BackupError(`The backup is damaged or cut short: ${how}.`, { cause });
