/** Breaches of one kind that are told one by one. */
const mostTold = 5;

/** What does not hold, in words. */
export class Breaches {
  readonly lines: string[] = [];

  /** Answers how many there are. */
  add<T>(what: string, of: readonly T[], describe: (one: T) => string): number {
    for (const one of of.slice(0, mostTold)) this.lines.push(`${what}: ${describe(one)}`);
    if (of.length > mostTold) this.lines.push(`${what}: ${of.length - mostTold} more`);
    return of.length;
  }
}
