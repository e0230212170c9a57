/**
 * The API reference and the guides: one part, which is loaded when one of its pages is opened. It comes with the console, with
 * which it shares code.
 */
import '../console/index.ts';

export { DocsView } from './docs-view.tsx';
