type IsRefusal = (thrown: unknown) => boolean;

/** The value of a parser, or that it refused its input. */
interface Parsed<T> {
  readonly value?: T;
  readonly refused: boolean;
}

/** Runs a parser. Anything that it throws is a fault, and is thrown, unless it is a refusal. */
export function outcome<T>(parse: () => T, isRefusal: IsRefusal): Parsed<T> {
  try {
    return { value: parse(), refused: false };
  } catch (thrown) {
    if (isRefusal(thrown)) return { refused: true };
    throw thrown;
  }
}

export async function outcomeOf<T>(parse: () => Promise<T>, isRefusal: IsRefusal): Promise<Parsed<T>> {
  const done = await parse().then(
    (value) => () => value,
    (thrown: unknown) => (): T => {
      throw thrown;
    },
  );
  return outcome(done, isRefusal);
}

export const isA =
  (...types: (abstract new (...args: never[]) => Error)[]): IsRefusal =>
  (thrown) =>
    types.some((type) => thrown instanceof type);

/** An `Error` itself, and none of its subclasses. */
export const isPlainError: IsRefusal = (thrown) => thrown instanceof Error && thrown.constructor === Error;
