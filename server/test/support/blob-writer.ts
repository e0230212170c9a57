import { openPlace } from './storages.ts';

/** A process that appends bytes to a blob, and prints its size and how the memory grew. */
const [place = '', key = '', bytes = ''] = process.argv.slice(2);
const chunk = new Uint8Array(64 * 1024).fill(1);
const memory = () => process.memoryUsage.rss();

const blobs = openPlace(place);
const writer = await blobs.append(key, await blobs.sizeOf(key));
const before = memory();
let most = before;
for (let written = 0; written < Number(bytes); written += chunk.length) {
  await writer.write(chunk);
  most = Math.max(most, memory());
}
const kept = await writer.close();
console.log(JSON.stringify({ kept, grewBytes: Math.max(most, memory()) - before }));
