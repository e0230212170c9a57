/** @jsxImportSource preact */
import { ApiError, type ClientOutput } from '@parley-chat/sdk';
import { useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { Problem, useSubmit } from '../problem.tsx';
import type { FailureKind } from './failure.ts';
import { Outcome } from './test-dialog.tsx';

const words = consoleText.urlTest;

type Result = ClientOutput<'webhooks.test'>;

/** A URL that was tested, and what came of it. */
interface Tested {
  readonly url: string;
  /** Undefined if the test was not sent. */
  readonly result: Result | undefined;
}

export interface UrlTest {
  /** As it is in the form. */
  readonly url: string;
  readonly change: (url: string) => void;
  readonly isTesting: boolean;
  /** Of this URL. */
  readonly tested: Tested | undefined;
  /** Whether the endpoint refused the test, or it was not sent: the URL can be used all the same. */
  readonly isRefused: boolean;
  /** Returns whether the endpoint accepted it. */
  readonly test: () => Promise<boolean>;
}

/** The URL of a form, which is tested before it is used. */
export function useUrlTest(urlBefore: string, send: (url: string) => Promise<Result>): UrlTest {
  const [url, change] = useState(urlBefore);
  const [last, setLast] = useState<Tested | undefined>(undefined);
  const [isTesting, setTesting] = useState(false);
  const trimmed = url.trim();
  const tested = last?.url === trimmed ? last : undefined;
  const test = async () => {
    setTesting(true);
    try {
      const result = await send(trimmed);
      setLast({ url: trimmed, result });
      return result.delivered;
    } catch (error) {
      // A URL that the server does not accept cannot be used. Any other one can, without a result too.
      const isInvalid = error instanceof ApiError && error.code === 'validation_failed';
      setLast(isInvalid ? undefined : { url: trimmed, result: undefined });
      throw error;
    } finally {
      setTesting(false);
    }
  };
  return { url, change, isTesting, tested, isRefused: tested !== undefined && tested.result?.delivered !== true, test };
}

interface UrlTestResultProps {
  readonly step: UrlTest;
  /** That the URL can be used all the same. */
  readonly hint: string;
  readonly next?: Readonly<Partial<Record<FailureKind, string>>>;
}

/** What came of the test of a URL, and another try. */
export function UrlTestResult({
  step: { isTesting, tested, isRefused, change, test },
  hint,
  next,
}: UrlTestResultProps) {
  const place = useRef<HTMLDivElement>(null);
  // It is below fields that may fill the window.
  useEffect(() => {
    if (isTesting || isRefused) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isTesting, isRefused]);
  return (
    <div role="status" class="test-result" ref={place}>
      {isTesting && <p class="muted">{words.testing}</p>}
      {!isTesting && tested?.result && <Outcome result={tested.result} url={tested.url} next={next} onUse={change} />}
      {isRefused && <Again hint={hint} onTest={test} />}
    </div>
  );
}

/** Tests the URL once more, after something was repaired. */
function Again({ hint, onTest }: { hint: string; onTest: () => Promise<unknown> }) {
  const { problem, submit, isBusy } = useSubmit({ labels: consoleText.form.labels });
  return (
    <>
      <p class="muted">{hint}</p>
      <Problem words={problem} />
      <div class="buttons">
        <button type="button" class="button quiet" disabled={isBusy} onClick={() => submit(onTest)}>
          {consoleText.test.again}
        </button>
      </div>
    </>
  );
}
