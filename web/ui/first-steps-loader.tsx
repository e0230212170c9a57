/** @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks';
import { useSession } from './context.ts';
import { hiddenKey, isHidden, sentKey, useFirstSteps } from './first-steps.tsx';
import { later } from './later.tsx';
import './first-steps.css';

const FirstStepsList = later(
  async () => (await import('./parts.ts')).FirstStepsList,
  () => null,
);

/** What an administrator does before a service is in use. The list goes away once all is done. */
export function FirstSteps() {
  const { loader, store, report } = useSession();
  const steps = useFirstSteps();
  const isNeeded = steps !== undefined;
  const isVisible = store.isVisible.value;
  const isShown = useRef(false);
  useEffect(() => {
    // A webhook may have been registered while somebody was in another window.
    const isDue = isShown.current ? isVisible : store.setup.peek() === undefined;
    isShown.current = true;
    if (isNeeded && isDue) loader.loadSetup().catch(report);
  }, [loader, store, report, isNeeded, isVisible]);
  const hide = () => {
    localStorage.setItem(hiddenKey(store.me.user_id), '1');
    isHidden.value = true;
  };
  useEffect(() => {
    // The next visit asks for nothing.
    if (store.setup.peek() && !isNeeded && !isHidden.peek()) hide();
  });
  const hasSent = typeof steps === 'object' && steps.hasSent;
  useEffect(() => {
    if (hasSent) localStorage.setItem(sentKey(store.me.user_id), '1');
  }, [hasSent]);
  return typeof steps === 'object' ? <FirstStepsList steps={steps} onHide={hide} /> : null;
}
