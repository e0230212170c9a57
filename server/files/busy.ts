import { ParleyError } from '@parley/contract';

/**
 * Another request or server uses the upload. It has the status 423, because tus clients retry and resume after that one.
 * Some start again from the beginning after any other conflict.
 */
export class UploadBusy extends ParleyError {
  constructor(message: string) {
    super('conflict', message);
  }
}
