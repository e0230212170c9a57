import type { Client, ClientOutput } from '@parley/sdk';
import type { CommandContext } from './context.ts';
import type { Filters } from './follow.ts';
import type { Running } from './until-stopped.ts';

/** Who listens to what, and from where on. */
export interface Listening {
  readonly server: string;
  readonly client: Client;
  readonly user: ClientOutput<'users.me'>['user'];
  readonly filters: Filters;
  /** The cursor that was asked for, where one was; `now` is the end of the log. */
  readonly from: number | 'now' | undefined;
  readonly running: Running;
  readonly context: CommandContext;
}
