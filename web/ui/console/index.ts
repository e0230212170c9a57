/**
 * The console: one part, which is loaded when one of its pages is opened. It comes with the other part, so that all that both share
 * with the first load is one file: each file more costs the first load some hundred bytes.
 */
import '../parts.ts';

export { ConsoleView } from './console-view.tsx';
