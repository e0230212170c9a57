/** Why a backup or restore fails. The message is for the operator. */
export class BackupError extends Error {}

export const damaged = (how: string, cause?: unknown) =>
  new BackupError(`The backup is damaged or truncated: ${how}.`, { cause });
