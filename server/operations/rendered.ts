import type { OperationName } from '@parley/contract';

/**
 * An answer that is JSON already: its fields beside `success`, as text. For the paths where taking JSON apart only to put
 * it together again would be most of the work.
 */
export class Rendered<N extends OperationName> {
  declare readonly operation: N;
  readonly fields: string;

  constructor(fields: string) {
    this.fields = fields;
  }
}
