/** The length of a comparison. */
export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUpSeconds: number;
}

export interface Plan extends Pace {
  readonly sizes: Sizes;
}

/** The pace of recorded figures. */
export const usualPace: Pace = { seconds: 0.8, rounds: 5, warmUpSeconds: 1.5 };

const fullSizes = {
  /** Messages in an ordinary chat, in a long one, and in one that a server starts with. */
  ...{ chat: 1_000, longChat: 1_000_000, chatAtStart: 100_000 },
  ...{ fileMebibytes: 1_024, streams: 10_000, starts: 5 },
  /** The backlog is in deliveries. */
  ...{ backlog: 20_000, lagPerSecond: 500, lagSeconds: 4, hangingEndpoints: 300, idleWebhooks: 10_000 },
  /** The idle time of a server before its memory is measured. */
  ...{ idleMs: 3_000, tokenCheckMs: 4_000, storedMessages: 20_000 },
  /** The chats of a user who searches, newer messages of others with the same words, and the largest group. */
  ...{ searchedChats: 1_600, foreignMessages: 12_000, crowd: 1_000 },
  /** A page of the longest messages, of webhooks up to the default limit, and of deliveries; the requests before those that count. */
  ...{ longMessages: 200, webhooks: 100, deliveries: 200, warmUps: 3 },
  /** Users of `streams` change their presence, and each is watched by so many. */
  ...{ presencePerSecond: 30, presenceWatchers: 50, presenceSeconds: 6 },
  /** Push subscriptions in one group. */
  subscriptions: 1_000,
  /** The points of the curves. */
  growth: {
    messages: [1_000, 10_000, 100_000, 1_000_000],
    webhooks: [1, 10, 100, 1_000, 10_000],
    chats: [1, 10, 100, 1_000, 10_000],
    connections: [1, 8, 64, 512],
    deliveries: [1_000, 10_000, 1_000_000],
  },
};

export type Sizes = typeof fullSizes;

/** The bounds of the last point of curves: most have their second point at the lower one. */
export const ends = { min: 10, max: 1_000_000 };

/** Returns sizes with curves that end earlier: their last points take most of the time. */
export function sizesUpTo(max: number): Sizes {
  const growth = Object.entries(fullSizes.growth).map(([name, all]: [string, readonly number[]]) => {
    const points = all.filter((x) => x <= max);
    // A curve needs two points, however large they are.
    return [name, points.length > 1 ? points : all.slice(0, 2)];
  });
  return { ...fullSizes, growth: Object.fromEntries(growth) as Sizes['growth'] };
}

/** Only tries whether each measurement runs. The figures mean nothing. */
export const tinyPlan: Plan = {
  seconds: 0.05,
  rounds: 1,
  warmUpSeconds: 0.05,
  sizes: {
    ...{ chat: 500, longChat: 600, chatAtStart: 500, fileMebibytes: 2, streams: 20, starts: 1 },
    ...{ backlog: 100, lagPerSecond: 100, lagSeconds: 0.1, hangingEndpoints: 2, idleWebhooks: 4 },
    ...{ idleMs: 10, tokenCheckMs: 50, storedMessages: 400 },
    ...{ searchedChats: 20, foreignMessages: 20, crowd: 20 },
    ...{ longMessages: 10, webhooks: 3, deliveries: 10, warmUps: 0 },
    ...{ presencePerSecond: 30, presenceWatchers: 4, presenceSeconds: 0.3, subscriptions: 20 },
    growth: { messages: [450, 500], webhooks: [1, 3], chats: [1, 3], connections: [1, 4], deliveries: [500, 600] },
  },
};
