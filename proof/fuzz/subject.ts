import fc from 'fast-check';

/** The type of what an arbitrary draws. */
export type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** A property that must hold for every input. */
export interface Subject {
  readonly name: string;
  readonly property: fc.IRawProperty<unknown>;
  /** The number of inputs in the tests. */
  readonly runs: number;
}

export const subject = <T>(name: string, runs: number, property: fc.IRawProperty<T>): Subject => ({
  name,
  runs,
  property: property as fc.IRawProperty<unknown>,
});

/** Overrides which inputs are drawn. */
export interface Draw {
  readonly seed: number;
  readonly runs: number | undefined;
  /** The path of fast-check to the input that failed. */
  readonly path: string | undefined;
}

/** The seed of the tests: they try the same inputs each time, so that a failure is the same for everybody. */
export const usualSeed = 20_260_101;

/** Returns the command that tries one input again. */
const replay = (where: string, name: string, seed: number, path: string): string =>
  `npm run fuzz -- ${where} --only ${JSON.stringify(name)} --seed ${seed} --path ${path}`;

/**
 * Tries a subject. Returns the number of inputs. Fails with the smallest input, and with the command that replays it, of which
 * `where` is a part.
 */
export async function attempt(subject: Subject, where: string, draw: Partial<Draw> = {}): Promise<number> {
  const { seed = usualSeed, runs = subject.runs, path } = draw;
  const details = await fc.check(subject.property, { seed, numRuns: runs, ...(path !== undefined && { path }) });
  if (!details.failed) return details.numRuns;
  const { counterexample, counterexamplePath, errorInstance } = details;
  const cause = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const lines = [
    `${subject.name}: ${cause}`,
    `smallest input: ${shorten(fc.stringify(counterexample))}`,
    `replay: ${replay(where, subject.name, seed, counterexamplePath ?? '')}`,
  ];
  throw new Error(lines.join('\n'), { cause: errorInstance });
}

/** Shortens repetitions to their length. */
const shorten = (text: string): string =>
  text.replace(/(.{1,12}?)\1{30,}/g, (run, unit: string) => `${unit}…(${run.length} characters)`);
