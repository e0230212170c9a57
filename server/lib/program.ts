import { embedded } from './embedded.ts';

/** How a person types the command line. */
export const program = embedded ? 'parley' : 'npx parley';

/** How a person starts the server. */
export const startCommand = embedded ? 'parley serve' : 'npm start';
