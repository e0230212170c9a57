/** The request of one attempt. */
export interface Sending {
  /** The id of the event, as in the headers. */
  readonly id: string;
  readonly event: string;
  readonly body: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** 0 outside of a replay. */
  readonly replayId: number;
  readonly at: number;
  /** A forwarded request asked for this attempt, so it must not reach a loopback address. */
  readonly isForwarded?: boolean;
}

/** The result of one attempt. */
export interface AttemptMade {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}
