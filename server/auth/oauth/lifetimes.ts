/** A code travels through the browser, and is handed in at once. */
export const codeMs = 60_000;

export const accessTokenMs = 3_600_000;

/** An app that nobody has used for so long must ask again. */
export const refreshTokenMs = 90 * 24 * 3_600_000;
