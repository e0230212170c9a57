import { storesParts } from '../../support/blob-parts-suite.ts';
import { storesBlobs, storesMuch } from '../../support/blob-suite.ts';
import { onBothStorages, onS3 } from '../../support/storages.ts';

onS3('a storage for files', () => storesBlobs('s3'));

onS3('a blob with segments', () => storesParts('s3'));

onBothStorages('a storage for large files', storesMuch);
