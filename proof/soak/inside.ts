/** What a process knows of itself. */
export interface Inside {
  /** The longest that the event loop was held up since this was last asked. */
  readonly lagMs: number;
}

/** What is left of memory once everything is gone that nobody holds on to. */
export interface Held {
  readonly heapBytes: number;
  /** How many objects of each kind there are. */
  readonly kinds: Kinds;
}

export type Kinds = Readonly<Record<string, number>>;
