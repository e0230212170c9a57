import type { Environment } from '../context.ts';
import { KeptState } from '../kept-state.ts';

/** What an upload is known by: one of a file that has changed, or as somebody else, is another one. */
export interface UploadKey {
  readonly server: string;
  readonly user_id: number;
  readonly path: string;
  readonly size: number;
  readonly modified: number;
  readonly name: string;
}

/** The upload of a file, kept from the server's first answer on until it has served its purpose. */
export class KeptUpload {
  readonly #state: KeptState;
  #id: string | undefined;
  /** Whether it was begun by an earlier run. */
  isOld: boolean;

  private constructor(state: KeptState) {
    const { upload } = state.read();
    this.#state = state;
    this.#id = typeof upload === 'string' && /^[\w-]+$/.test(upload) ? upload : undefined;
    this.isOld = this.#id !== undefined;
  }

  /** Where other processes are uploading the same file, this one does so beside them. */
  static async take(key: UploadKey, env: Environment): Promise<KeptUpload> {
    for (let place = 1; ; place++) {
      const state = await KeptState.take('upload', { ...key, place }, env);
      if (state) return new KeptUpload(state);
    }
  }

  /** By which the server knows it, once it has begun. */
  get id(): string | undefined {
    return this.#id;
  }

  begin(id: string): void {
    this.#id = id;
    this.#state.write({ upload: id });
  }

  forget(): void {
    this.#id = undefined;
    this.isOld = false;
    this.#state.forget();
  }

  release(): Promise<void> {
    return this.#state.release();
  }
}
