import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The name of the page in the title of the browser's tab. Empty where that has only the name of the service. */
export const pageTitle = signal('');

/** Names the page for as long as it is shown. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    pageTitle.value = title;
    return () => {
      pageTitle.value = '';
    };
  }, [title]);
}
