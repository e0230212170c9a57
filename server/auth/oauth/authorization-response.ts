/**
 * Returns the URL that takes the response to the app. The redirect URL stays as it was registered, its query included: a
 * parser might write it differently from what was compared. `iss` (RFC 9207) keeps an app that uses several servers from
 * sending the code of one to another.
 */
export function responseUrl(
  redirect: string,
  issuer: string,
  state: string | undefined,
  response: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...response, ...(state !== undefined && { state }), iss: issuer });
  return `${redirect}${redirect.includes('?') ? '&' : '?'}${query}`;
}
