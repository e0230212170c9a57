import { ParleyError } from '@parley/contract';

/**
 * An upload is somebody else's to write for now. Clients know a status for it: told so, they ask later where the upload is,
 * and go on from there; told of any other conflict, some begin anew.
 */
export class UploadBusy extends ParleyError {
  constructor(message: string) {
    super('conflict', message);
  }
}
