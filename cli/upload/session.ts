import type { Environment } from '../context.ts';
import { takeResumeState } from '../resume-state.ts';

/** Identifies an upload. A changed file, or another user, starts another one. */
export interface UploadKey {
  readonly server: string;
  readonly user_id: number;
  readonly path: string;
  readonly size: number;
  readonly modified: number;
  readonly name: string;
}

/** An upload that is saved from the server's first response until the file is used. */
export interface UploadSession {
  /** The server's id, once the upload has begun. */
  id: string | undefined;
  /** Whether an earlier run began it. */
  isResumed: boolean;
  begin(id: string): void;
  forget(): void;
  release(): Promise<void>;
}

/** Returns the saved upload with this key, or a new one beside those that other processes hold. */
export async function takeSession(key: UploadKey, env: Environment): Promise<UploadSession> {
  for (let place = 1; ; place++) {
    const state = await takeResumeState('upload', { ...key, place }, env);
    if (!state) continue;
    const { upload: id } = state.read();
    const isResumed = typeof id === 'string' && /^[\w-]+$/.test(id);
    const session: UploadSession = {
      id: isResumed ? id : undefined,
      isResumed,
      begin: (id) => {
        session.id = id;
        state.write({ upload: id });
      },
      forget: () => {
        session.id = undefined;
        session.isResumed = false;
        state.clear();
      },
      release: state.release,
    };
    return session;
  }
}
