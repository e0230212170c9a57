/** Every error that OAuth knows and we give, with the status it has where it is no redirect (RFC 6749, 5.2). */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
} as const;

export type FaultCode = keyof typeof statuses;

export const isFaultCode = (name: string): name is FaultCode => Object.hasOwn(statuses, name);

/** What an app did wrong, in OAuth's own terms. The description is for whoever writes the app. */
export class OAuthFault extends Error {
  readonly error: FaultCode;
  readonly description: string;

  constructor(error: FaultCode, description: string) {
    super(`${error}: ${description}`);
    this.name = 'OAuthFault';
    this.error = error;
    this.description = description.replaceAll(outsideDescriptions, '?');
  }

  get status(): number {
    return statuses[this.error];
  }

  /** More than OAuth's usual headers, where there is more to say. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
}

/** What a description must not contain, whatever of the request it quotes. */
const outsideDescriptions = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** The start of what somebody sent, for a description. */
export const quoted = (text: string): string => `'${text.length > 50 ? `${text.slice(0, 50)}...` : text}'`;
