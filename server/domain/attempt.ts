/** What is sent to an endpoint in one attempt. */
export interface Sending {
  /** The event's id as it stands in the headers. */
  readonly id: string;
  readonly event: string;
  readonly body: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** 0: none. */
  readonly replayId: number;
  readonly at: number;
}

/** What came of it. */
export interface AttemptMade {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}
