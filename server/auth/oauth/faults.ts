/** OAuth's error codes that we use, with the status of a response that is not a redirect (RFC 6749, 5.2). */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 400,
  // RFC 8628, 3.5
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
} as const;

export type FaultCode = keyof typeof statuses;

export const isFaultCode = (name: string): name is FaultCode => Object.hasOwn(statuses, name);

/** An error in OAuth's terms. The description is for the developer of the app. */
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

  /** Additional headers of the response. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
}

/** Characters that RFC 6749 forbids in a description. */
const outsideDescriptions = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** Quotes the start of a value from the request. */
export const quoted = (text: string): string => `'${text.length > 50 ? `${text.slice(0, 50)}...` : text}'`;
