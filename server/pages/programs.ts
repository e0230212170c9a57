import { ParleyError } from '@parley/contract';

/** What programs read that ask for a page. It is English, as the API is. */

export const greeting = (version: string): string =>
  `Parley ${version}\nThe API is at /api, its description at /api/openapi.json.\n`;

export const nothingHere = (): ParleyError =>
  new ParleyError('not_found', 'There is nothing at this URL. The API is at /api/<resource>/<action>.');
