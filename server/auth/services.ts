import type { UserId } from '@parley/contract';
import type { Throttle } from '../store/access/throttles.ts';
import type { Engine } from '../store/engine/engine.ts';
import type { Random } from './access-token.ts';
import type { Passwords } from './passwords.ts';

/** What everything about access needs from the process around it. */
export interface AccessServices {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: Random;
  readonly passwords: Passwords;
  /** To be called once it is committed that some access of these users has ended: nothing is to remember it. */
  readonly ended: (...userIds: readonly UserId[]) => Promise<void>;
}

export interface SignInServices extends AccessServices {
  /** How often one account may be tried; undefined: as often as anybody likes. */
  readonly signInLimit: Throttle | undefined;
  /** Proves that a browser has signed in before. */
  readonly deviceKey: Uint8Array;
}
