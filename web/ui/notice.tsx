/** @jsxImportSource preact */
import { type Signal, signal } from '@preact/signals';
import { useCallback } from 'preact/hooks';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { IconButton } from './icon.tsx';
import { mayPass, problemOf, type Sentences } from './problem.tsx';
import './notice.css';

interface Told {
  readonly words: string;
  /** Repeats what has failed. */
  readonly retry?: (() => void) | undefined;
  readonly isProblem: boolean;
}

const told: Signal<Told | undefined> = signal(undefined);

const confirmationMs = 4_000;

/** Shows a short confirmation for a moment. */
export function tell(words: string): void {
  const confirmation = { words, isProblem: false };
  told.value = confirmation;
  setTimeout(() => {
    if (told.peek() === confirmation) told.value = undefined;
  }, confirmationMs);
}

/** Says that something failed. It stays until the user has read it. */
const tellProblem = (words: string, retry: (() => void) | undefined): void => {
  told.value = { words, retry, isProblem: true };
};

/** Does what the user asked for. */
export type Act = (failed: string, act: () => Promise<unknown>, sentences?: Sentences) => void;

/** Returns a function that does what the user asked for. If that fails, a notice says so, and offers to repeat it. */
export function useAct(): Act {
  const { report } = useSession();
  return useCallback(
    function attempt(failed, act, sentences) {
      act().catch((error: unknown) => {
        const retry = mayPass(error) ? () => attempt(failed, act, sentences) : undefined;
        tellProblem(text.problems.because({ failed, cause: problemOf(error, sentences) }), retry);
        report(error);
      });
    } satisfies Act,
    [report],
  );
}

const dismiss = (): void => {
  told.value = undefined;
};

/** Shows the last confirmation or problem. */
export function Notice() {
  const notice = told.value;
  return (
    <div class="notice" role="status">
      {notice && (
        <div class="words">
          <p>{notice.words}</p>
          {notice.retry && (
            <button
              type="button"
              class="retry"
              onClick={() => {
                dismiss();
                notice.retry?.();
              }}
            >
              {text.common.tryAgain}
            </button>
          )}
          {notice.isProblem && <IconButton icon="close" label={text.problems.dismiss} onClick={dismiss} />}
        </div>
      )}
    </div>
  );
}
