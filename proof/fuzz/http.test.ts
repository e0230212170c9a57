import { describe } from 'bun:test';
import { tryHttp } from './test/http-suite.ts';

describe('a few of all things that may be asked of the server', () => tryHttp('sqlite', 1 / 6));
