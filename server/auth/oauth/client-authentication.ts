import type { Db } from '../../store/engine/engine.ts';
import { hashToken } from '../access-token.ts';
import { type Client, findClient } from './client.ts';
import { OAuthFault } from './faults.ts';
import type { Parameters } from './parameters.ts';

/** Failed authentication of an app. If it used the Authorization header, the response names the scheme (RFC 6749, 5.2). */
class ClientRefusal extends OAuthFault {
  readonly #byHeader: boolean;

  constructor(byHeader: boolean, description: string) {
    super('invalid_client', description);
    this.#byHeader = byHeader;
  }

  override get headers(): Readonly<Record<string, string>> {
    return this.#byHeader ? { 'www-authenticate': 'Basic realm="parley", charset="UTF-8"' } : {};
  }
}

interface Credentials {
  readonly clientId: string;
  readonly secret: string | undefined;
}

/** Returns the app of a request. An app with a secret must send it, one without must not. */
export async function authenticateClient(db: Db, form: Parameters, authorization: string | null): Promise<Client> {
  const byHeader = authorization !== null;
  const { clientId, secret } = byHeader ? fromHeader(authorization, form) : fromForm(form);
  const client = await findClient(db, clientId);
  const given = secret === undefined ? null : hashToken(secret);
  // The comparison need not be constant-time: its timing reveals nothing about 256 random bits behind a hash.
  if (client?.secretHash === given) return client;
  if (client && client.secretHash === null) {
    throw new ClientRefusal(byHeader, 'This app has no secret, so it must not send one.');
  }
  if (client && given === null) throw new ClientRefusal(byHeader, 'This app must send its client_secret.');
  throw new ClientRefusal(byHeader, 'The app is unknown, or its secret is wrong.');
}

function fromForm(form: Parameters): Credentials {
  const clientId = form.get('client_id');
  if (clientId !== undefined) return { clientId, secret: form.get('client_secret') };
  throw new ClientRefusal(false, 'client_id is missing.');
}

function fromHeader(authorization: string, form: Parameters): Credentials {
  if (form.has('client_secret')) {
    throw new OAuthFault('invalid_request', 'Send the secret in the Authorization header or in the body, not in both.');
  }
  const credentials = basicIn(authorization);
  if (!credentials) {
    throw new ClientRefusal(true, 'The Authorization header must read: Basic, and client_id:client_secret in base64.');
  }
  if ((form.get('client_id') ?? credentials.clientId) !== credentials.clientId) {
    throw new OAuthFault('invalid_request', 'The Authorization header names another client_id than the body.');
  }
  return credentials;
}

/** OAuth form-encodes both halves before it joins them (RFC 6749, 2.3.1). */
function basicIn(authorization: string): Credentials | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const [, clientId, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  if (clientId === undefined || secret === undefined) return undefined;
  try {
    return { clientId: formDecoded(clientId), secret: secret === '' ? undefined : formDecoded(secret) };
  } catch {
    return undefined;
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
