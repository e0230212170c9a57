/** What was typed cannot be meant; its message is one plain line that says what to type instead. */
export class UsageError extends Error {}
