import type { Environment } from '../context.ts';
import { takeResumeState } from '../resume-state.ts';

/** An upload that is saved from the server's first response until the file is used. */
export type UploadSession = Awaited<ReturnType<typeof takeSession>>;

/** Returns the saved upload with this key, or a new one beside those that other processes hold. */
export async function takeSession(key: object, env: Environment) {
  for (let place = 1; ; place++) {
    const state = await takeResumeState('upload', { ...key, place }, env);
    if (!state) continue;
    const { upload: saved } = state.read();
    const id = typeof saved === 'string' && /^[\w-]+$/.test(saved) ? saved : undefined;
    const session = {
      /** The server's id, once the upload has begun. */
      id,
      /** An earlier run began it. */
      isResumed: id !== undefined,
      begin: (id: string) => {
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
