/** The text that the Standard Webhooks signature covers: id, time of the attempt and body. */
export const signedContent = (id: string, at: number, body: string): string =>
  `${id}.${Math.floor(at / 1_000)}.${body}`;
