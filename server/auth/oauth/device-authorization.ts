import { ParleyError, type Scope } from '@parley/contract';
import {
  allowDevice,
  countDeviceCodes,
  denyDevice,
  findUndecidedDevice,
  insertDeviceCode,
} from '../../store/access/device-codes.ts';
import { returnAttempt, type Throttle, takeAttempt } from '../../store/access/throttles.ts';
import { formatScopes, hashToken, newSecret, parseScopes, usableBy } from '../access-token.ts';
import type { AccessServices } from '../services.ts';
import { networkBudgets, type Throttled, take, throttledFor } from '../sign-in.ts';
import { type Client, findClient } from './client.ts';
import { authenticateClient } from './client-authentication.ts';
import { type Decider, insertConsentedGrant } from './consented-grant.ts';
import { OAuthFault } from './faults.ts';
import { deviceCodeMs, pollMs } from './lifetimes.ts';
import { devicePage } from './metadata.ts';
import { requireScopes } from './scope.ts';
import type { AppCall } from './token.ts';
import { formatUserCode, newUserCode, readUserCode } from './user-code.ts';

/** A request for the codes of a device. */
export interface DeviceCall extends AppCall {
  /** Codes are counted by each of them. The narrowest comes first. */
  readonly networks: readonly string[];
  /** Our own origin. */
  readonly issuer: string;
}

/** A device that waits for a decision. */
export interface DeviceRequest {
  readonly outcome: 'ask';
  readonly client: Client;
  /** In the order of the contract. */
  readonly scopes: readonly Scope[];
  /** The code as people read it. */
  readonly userCode: string;
  readonly expiresAt: number;
}

export type DeviceSearch = DeviceRequest | { readonly outcome: 'unknown' } | Throttled;

export type DeviceDecision =
  | { readonly outcome: 'done' }
  /** The code, the app or the session has ended meanwhile. */
  | { readonly outcome: 'refused'; readonly message: string };

/** A network has requested too many codes. */
export class TooManyCodes extends ParleyError {
  readonly retrySeconds: number;

  constructor(retrySeconds: number) {
    super('rate_limited', `Too many codes were requested from your network. Try again in ${retrySeconds} s.`);
    this.retrySeconds = retrySeconds;
  }
}

/** Anybody may request codes, so a network gets 50 in a row, then one every 12 seconds. See `networkBudgets`. */
const codeLimit: Throttle = { burst: 10, everyMs: 60_000 };

/** Bounds the table, whatever the number of networks. */
const maxCodes = 10_000;

/** Wrong codes of one person. With all `maxCodes` in use, a guess is right once in 2.5 million. */
const guessLimit: Throttle = { burst: 10, everyMs: 60_000 };

/** Starts a request, and returns its two codes (RFC 8628, 3.2). */
export async function startDevice(services: AccessServices, call: DeviceCall): Promise<object> {
  const { engine, random } = services;
  const client = await authenticateClient(engine, call.form, call.authorization);
  const scopes = requireScopes(call.form.get('scope'));
  const secret = newSecret('device', random);
  const userCode = newUserCode(random);
  const refusal = await engine.write(async (tx) => {
    const at = services.now();
    const refused = await take(tx, networkBudgets('device code', call.networks, codeLimit), at);
    if (refused) {
      const { retrySeconds } = throttledFor(refused.waitMs);
      return new TooManyCodes(retrySeconds);
    }
    if ((await countDeviceCodes(tx, at)) >= maxCodes) {
      return new ParleyError('unavailable', 'Too many devices wait for a decision. Try again in a few minutes.');
    }
    await insertDeviceCode(tx, {
      hash: hashToken(secret),
      user_code_hash: hashToken(userCode),
      app_id: client.appId,
      scopes: formatScopes(scopes),
      interval_ms: pollMs,
      expires_at: at + deviceCodeMs,
    });
    return undefined;
  });
  // Not thrown inside, so that the attempt counts.
  if (refusal) throw refusal;
  const shown = formatUserCode(userCode);
  const page = call.issuer + devicePage;
  return {
    device_code: secret,
    user_code: shown,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${shown}`,
    expires_in: deviceCodeMs / 1_000,
    interval: pollMs / 1_000,
  };
}

/** Finds the device that shows a code. Wrong codes are counted for the user, so that nobody guesses one. */
export async function findDevice(services: AccessServices, typed: string, user: Decider): Promise<DeviceSearch> {
  const code = readUserCode(typed);
  if (code === undefined) return { outcome: 'unknown' };
  const key = `codes of devices by ${user.userId}`;
  return services.engine.write(async (tx) => {
    const at = services.now();
    const waitMs = await takeAttempt(tx, key, guessLimit, at);
    if (waitMs > 0) return throttledFor(waitMs);
    const found = await findUndecidedDevice(tx, hashToken(code), at);
    const client = found && (await findClient(tx, found.client_id));
    if (!found || !client) return { outcome: 'unknown' };
    await returnAttempt(tx, key, guessLimit);
    const scopes = [...parseScopes(found.scopes)];
    return { outcome: 'ask', client, scopes, userCode: formatUserCode(code), expiresAt: found.expires_at };
  });
}

/** Allows or denies a device. The first decision counts. */
export async function decideDevice(
  services: AccessServices,
  { client, scopes, userCode, expiresAt }: DeviceRequest,
  user: Decider,
  allowed: boolean,
): Promise<DeviceDecision> {
  const hash = hashToken(readUserCode(userCode) ?? '');
  try {
    await services.engine.write(async (tx) => {
      const at = services.now();
      const grant = async () => {
        const usable = usableBy(user, scopes);
        if (usable.length === 0) throw new OAuthFault('access_denied', 'The scope admin is for administrators alone.');
        return (await insertConsentedGrant(tx, { client, user, scopes: usable, at, expiresAt })).grant_id;
      };
      const isFirst = allowed ? await allowDevice(tx, hash, at, await grant()) : await denyDevice(tx, hash, at);
      if (!isFirst) throw new OAuthFault('access_denied', 'The code has expired, or was used already.');
    });
    return { outcome: 'done' };
  } catch (thrown) {
    if (thrown instanceof OAuthFault) return { outcome: 'refused', message: thrown.description };
    throw thrown;
  }
}
