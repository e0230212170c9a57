/** @jsxImportSource preact */
import { ApiError, type ErrorCode } from '@parley-chat/sdk';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import './problem.css';

/** Sentences about some codes, where the common ones would say too little. */
export type Sentences = Readonly<Partial<Record<ErrorCode, string>>>;

/** The labels of fields, by their names in the API. */
export type Labels = Readonly<Record<string, string>>;

const { offline, ...common } = text.problems.causes;

/** Returns why a call failed, for people. Where the client has no sentence, the server's own words are one. */
export function problemOf(error: unknown, own: Sentences = {}, labels: Labels = {}): string {
  if (!(error instanceof ApiError)) return offline;
  const [detail] = error.details;
  const label = detail && labels[detail.field];
  if (label) return text.problems.field({ label, problem: detail.message });
  return own[error.code] ?? (common as Sentences)[error.code] ?? error.message;
}

/** Returns whether the same call may succeed later. */
export const mayPass = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.status === 429;

interface ProblemProps {
  /** Nothing is shown if it is empty. */
  readonly words: string;
  readonly onRetry?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}

/** Says in place what went wrong. */
export function Problem({ words, onRetry, children }: ProblemProps) {
  if (words === '') return null;
  return (
    <p class="problem" role="alert">
      {words}
      {onRetry && (
        <>
          {' '}
          <button type="button" onClick={onRetry}>
            {text.common.tryAgain}
          </button>
        </>
      )}
      {children}
    </p>
  );
}

export interface Attempts {
  /** The problem of the last attempt, if it failed. */
  readonly problem: string;
  /** Loads something. Another attempt takes its place. */
  readonly run: (load: () => Promise<unknown>) => void;
  /** Repeats the last attempt. */
  readonly again: () => void;
  /** Whether the last attempt failed, also in callbacks of an earlier render. */
  readonly hasFailed: () => boolean;
}

/** Loads what a view needs. What failed is loaded again when the connection is back. */
export function useAttempts(failed: string, sentences?: Sentences): Attempts {
  const { store, report } = useSession();
  const [problem, setProblem] = useState('');
  const last = useRef<{ readonly load: () => Promise<unknown>; hasFailed: boolean } | undefined>(undefined);
  const run = useCallback(
    (load: () => Promise<unknown>) => {
      const attempt = { load, hasFailed: false };
      last.current = attempt;
      load().then(
        () => last.current === attempt && setProblem(''),
        (error: unknown) => {
          report(error);
          if (last.current !== attempt) return;
          attempt.hasFailed = true;
          setProblem(text.problems.because({ failed, cause: problemOf(error, sentences) }));
        },
      );
    },
    [failed, report],
  );
  const again = useCallback(() => last.current && run(last.current.load), [run]);
  const hasFailed = useCallback(() => last.current?.hasFailed === true, []);
  const isLive = store.connection.value === 'live';
  useEffect(() => {
    if (isLive && hasFailed()) again();
  }, [isLive, hasFailed, again]);
  // The view ignores a result that comes after it is gone.
  useEffect(
    () => () => {
      last.current = undefined;
    },
    [],
  );
  return { problem, run, again, hasFailed };
}

/** Loads something at first, and whenever it becomes another thing. */
export function useLoading(failed: string, load: () => Promise<unknown>, sentences?: Sentences): Attempts {
  const attempts = useAttempts(failed, sentences);
  const { run } = attempts;
  useEffect(() => run(load), [run, load]);
  return attempts;
}

interface SubmitWords {
  readonly sentences?: Sentences;
  readonly labels?: Labels;
}

/** Does what somebody asks for with a form or a button. `problem` says why the last act failed. */
export function useSubmit({ sentences, labels }: SubmitWords = {}) {
  const { report } = useSession();
  const [problem, fail] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = useCallback(
    (act: () => Promise<unknown>): void => {
      setBusy(true);
      fail('');
      act()
        .catch((error: unknown) => {
          report(error);
          fail(problemOf(error, sentences, labels));
        })
        .finally(() => setBusy(false));
    },
    [report, sentences, labels],
  );
  return { problem, submit, isBusy, fail };
}
