import type { OperationName } from '@parley/contract';

/**
 * A response body that is JSON text already. The hot paths make it from stored text, because parsing that text and writing it
 * again would be most of their work.
 */
export class PreparedJson<N extends OperationName> {
  declare readonly operation: N;
  /** The whole body. A cached one is the same string each time, so it is not built again. */
  readonly body: string;

  constructor(fields: string) {
    this.body = `{"success":true,${fields}}`;
  }
}
