/**
 * The script of the page for signing in, which the server shows only to somebody who is not signed in. What is stored here
 * belongs to nobody any more: the session may have ended while no tab was open.
 */
import { deleteDatabases } from './store/database.ts';
import { forgetBrowser } from './worker/forget.ts';

await Promise.all([deleteDatabases(), forgetBrowser()]);
