import { describe } from 'bun:test';
import { storesParts } from '../../support/blob-parts-suite.ts';
import { storesBlobs } from '../../support/blob-suite.ts';

describe('a storage for files (disk)', () => storesBlobs('disk'));

describe('a blob with segments (disk)', () => storesParts('disk'));
