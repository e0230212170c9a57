/** Administration: a part of its own, which comes after that of the console. */
export { AdminView } from './admin-view.tsx';
