/**
 * Where the browser takes an answer back to the app. The address stays as it was registered, its own query included: what
 * a parser would write anew is no longer what was compared. `iss` says who answers (RFC 9207), so that an app that
 * deals with several servers is not made to hand the code of one to another.
 */
export function backToApp(
  redirect: string,
  issuer: string,
  state: string | undefined,
  answer: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
  return `${redirect}${redirect.includes('?') ? '&' : '?'}${query}`;
}
