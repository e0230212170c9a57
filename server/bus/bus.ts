/** The kinds of messages between the processes on one database. */
export type Topic =
  /** Events were committed. */
  | 'committed'
  /** A signal for streams. */
  | 'signal'
  /** Users have connected, left or become idle. */
  | 'presence'
  /** Access of some users has ended. */
  | 'ended'
  /** A webhook was changed. */
  | 'webhooks'
  /** Another process wants an upload. */
  | 'uploads';

/** Connects the processes on one database. Any message may be lost: it speeds things up, and nothing depends on it. */
export interface Bus {
  /** Sends a message to all other processes. */
  publish(topic: Topic, text: string): void;
  stop(): Promise<void>;
}

export interface BusListener {
  readonly messages: { readonly [T in Topic]: (text: string) => void };
  /** Called on every connection. Messages before it may have been lost. */
  readonly connected: () => void;
  readonly disconnected: (cause: unknown) => void;
  /** Called for a message that is not ours, is of another version, is too old, or came before. */
  readonly rejected: (topic: Topic, cause: unknown) => void;
}

/** For a process that is alone, or without NATS. */
export const noBus: Bus = { publish: () => {}, stop: async () => {} };
