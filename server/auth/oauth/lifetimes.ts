/** Short, because a code passes through the browser and is exchanged at once. */
export const codeMs = 60_000;

/** Long enough to find a browser, sign in and type a code. */
export const deviceCodeMs = 10 * 60_000;

/** The least time between two polls of a device, and what each poll that comes too early adds to it. */
export const pollMs = 5_000;

export const accessTokenMs = 3_600_000;

/** Valid access tokens of one grant. A further one revokes the oldest. */
export const maxLiveTokens = 50;

/** An app that was unused for this time needs a new authorization. */
export const refreshTokenMs = 90 * 24 * 3_600_000;
