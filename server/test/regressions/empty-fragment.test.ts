import { expect, test } from 'bun:test';
import { httpUrl } from '../../../cli/values.ts';

test('an address to forward to has no fragment, not even an empty one', () => {
  for (const typed of ['http://localhost:3000/hook#', 'http://localhost#', 'http://localhost/?a#b']) {
    expect(() => httpUrl(typed)).toThrow('a URL such as');
  }
  expect(httpUrl('http://localhost:3000/hook?a=%23').href).toBe('http://localhost:3000/hook?a=%23');
});
