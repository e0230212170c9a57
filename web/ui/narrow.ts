import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 44rem)');

/** Whether there is one column, as on a phone. The stylesheets have the same width. */
export const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});
