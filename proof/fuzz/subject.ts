import fc from 'fast-check';

/** The type of what an arbitrary draws. */
export type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** One thing that must hold whatever comes in, and how it is tried. */
export interface Subject {
  readonly name: string;
  readonly property: fc.IRawProperty<unknown>;
  /** How often the tests try it. */
  readonly runs: number;
}

/** A property, under the name that replays it. */
export const subject = <T>(name: string, runs: number, property: fc.IRawProperty<T>): Subject => ({
  name,
  runs,
  property: property as fc.IRawProperty<unknown>,
});

/** Which inputs are drawn, where that is not what the tests draw. */
export interface Draw {
  readonly seed: number;
  readonly runs: number | undefined;
  /** Leads straight to the input that failed. */
  readonly path: string | undefined;
}

/** The seed of the tests: they try the same inputs each time, so that what fails for one fails for all. */
export const usualSeed = 20_260_101;

/** The command that tries one input of a subject again. */
const replay = (where: string, name: string, seed: number, path: string): string =>
  `npm run fuzz -- ${where} --only ${JSON.stringify(name)} --seed ${seed} --path ${path}`;

/**
 * Tries a subject. Answers how many inputs there were; throws with what failed, and with the command that replays it: `where`
 * is what that command needs to know beside the subject.
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

/** Long runs of the same are told by their length. */
const shorten = (text: string): string =>
  text.replace(/(.{1,12}?)\1{30,}/g, (run, unit: string) => `${unit}…(${run.length} characters)`);
