/** What a parser makes of its input: a value, or its own refusal. Anything else that it throws is a fault, and goes on. */
export function outcome<T>(parse: () => T, isRefusal: (thrown: unknown) => boolean): { value?: T; refused: boolean } {
  try {
    return { value: parse(), refused: false };
  } catch (thrown) {
    if (isRefusal(thrown)) return { refused: true };
    throw thrown;
  }
}

export async function outcomeOf<T>(
  parse: () => Promise<T>,
  isRefusal: (thrown: unknown) => boolean,
): Promise<{ value?: T; refused: boolean }> {
  try {
    return { value: await parse(), refused: false };
  } catch (thrown) {
    if (isRefusal(thrown)) return { refused: true };
    throw thrown;
  }
}
