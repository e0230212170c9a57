/** What processes on one database tell each other. */
export type Topic =
  /** Events were committed. */
  | 'committed'
  /** A signal for those who listen. */
  | 'signal'
  /** Access of some users has ended. */
  | 'ended'
  /** Something about a webhook was changed. */
  | 'webhooks'
  /** An upload is wanted by another process. */
  | 'uploads';

/** Between the processes on one database. Everything told here may get lost: it makes things quick, and never true. */
export interface Bus {
  /** Tells all others, and not oneself. */
  tell(topic: Topic, text: string): void;
  stop(): Promise<void>;
}

export interface Hearing {
  readonly hear: { readonly [T in Topic]: (text: string) => void };
  /** Others can be heard from now on; something may have been missed before. */
  readonly connected: () => void;
  readonly lost: (cause: unknown) => void;
  /** Something came that is none of ours, or of another version. */
  readonly strange: (topic: Topic, cause: unknown) => void;
}

/** For a process that is alone, or whose others look by themselves. */
export const silentBus: Bus = { tell: () => {}, stop: async () => {} };
