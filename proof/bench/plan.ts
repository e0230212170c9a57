/** How long a comparison takes. */
export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUpSeconds: number;
}

/** How much there is of everything. */
export interface Sizes {
  /** Messages in a chat: an ordinary one, a long one, and one that a server starts with. */
  readonly chat: number;
  readonly longChat: number;
  readonly chatAtStart: number;
  /** Deliveries that a webhook has waiting. */
  readonly backlog: number;
  readonly lagPerSecond: number;
  readonly lagSeconds: number;
  readonly hangingEndpoints: number;
  readonly idleWebhooks: number;
  readonly fileMebibytes: number;
  readonly streams: number;
  readonly starts: number;
  /** How long a server has been left alone when its memory is looked at. */
  readonly idleMs: number;
  readonly tokenCheckMs: number;
  readonly growth: Growth;
}

/** The points of the curves. */
export interface Growth {
  readonly messages: readonly number[];
  readonly webhooks: readonly number[];
  readonly chats: readonly number[];
  readonly connections: readonly number[];
}

export interface Plan extends Pace {
  readonly sizes: Sizes;
}

/** What the figures are taken with. */
export const usualPace: Pace = { seconds: 0.8, rounds: 5, warmUpSeconds: 1.5 };

const fullSizes: Sizes = {
  chat: 1_000,
  longChat: 1_000_000,
  chatAtStart: 100_000,
  backlog: 20_000,
  lagPerSecond: 500,
  lagSeconds: 4,
  hangingEndpoints: 300,
  idleWebhooks: 10_000,
  fileMebibytes: 1_024,
  streams: 10_000,
  starts: 5,
  idleMs: 3_000,
  tokenCheckMs: 4_000,
  growth: {
    messages: [1_000, 10_000, 100_000, 1_000_000],
    webhooks: [1, 10, 100, 1_000, 10_000],
    chats: [1, 10, 100, 1_000, 10_000],
    connections: [1, 8, 64, 512],
  },
};

/** Where curves can end: most have their second point at the least. */
export const ends = { least: 10, most: 1_000_000 };

/** The same, with curves that end earlier: their last points take most of the time. */
export function sizesUpTo(most: number): Sizes {
  const growth = Object.entries(fullSizes.growth).map(([name, all]: [string, readonly number[]]) => {
    const points = all.filter((x) => x <= most);
    // A curve needs two points, however large they are.
    return [name, points.length > 1 ? points : all.slice(0, 2)];
  });
  return { ...fullSizes, growth: Object.fromEntries(growth) as Growth };
}

/** Just enough of everything to see that each measurement runs. The figures mean nothing. */
export const tinyPlan: Plan = {
  seconds: 0.05,
  rounds: 1,
  warmUpSeconds: 0.05,
  sizes: {
    chat: 500,
    longChat: 600,
    chatAtStart: 500,
    backlog: 100,
    lagPerSecond: 100,
    lagSeconds: 0.1,
    hangingEndpoints: 2,
    idleWebhooks: 4,
    fileMebibytes: 2,
    streams: 20,
    starts: 1,
    idleMs: 10,
    tokenCheckMs: 50,
    growth: { messages: [450, 500], webhooks: [1, 3], chats: [1, 3], connections: [1, 4] },
  },
};
