import type { OperationName } from '@parley/contract';

/**
 * An answer that is JSON already, made from its fields beside `success` as text. For the paths where taking JSON apart only to put
 * it together again would be most of the work.
 */
export class Rendered<N extends OperationName> {
  declare readonly operation: N;
  /** The whole answer. One that is given again is the same string, and need not be copied together again. */
  readonly body: string;

  constructor(fields: string) {
    this.body = `{"success":true,${fields}}`;
  }
}
