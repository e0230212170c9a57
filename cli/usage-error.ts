/** The command line is wrong. The message is one line that says what to type instead. */
export class UsageError extends Error {}
