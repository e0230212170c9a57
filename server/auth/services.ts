import type { UserId } from '@parley/contract';
import type { Quotas } from '../domain/quotas.ts';
import type { Throttle } from '../store/access/throttles.ts';
import type { Engine } from '../store/engine/engine.ts';
import type { Random } from './access-token.ts';
import type { Passwords } from './passwords.ts';

export interface AccessServices {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: Random;
  readonly passwords: Passwords;
  readonly quotas: Quotas;
  /** Must be called after the commit that ends some access of these users. It empties caches and closes streams. */
  readonly ended: (...userIds: readonly UserId[]) => Promise<void>;
}

export interface SignInServices extends AccessServices {
  /** The limit of attempts on one account. Undefined means no limit. */
  readonly signInLimit: Throttle | undefined;
  /** Signs the marks of browsers that have signed in. */
  readonly deviceKey: Uint8Array;
}
