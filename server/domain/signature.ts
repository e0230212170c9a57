/** The text that the Standard Webhooks signature covers: it binds the body to its id and to the time of the attempt. */
export const signedContent = (id: string, at: number, body: string): string =>
  `${id}.${Math.floor(at / 1_000)}.${body}`;
