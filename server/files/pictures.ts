import { deflateSync, inflateSync } from 'node:zlib';
import { ParleyError, type UserId } from '@parley/contract';
import { FairTurns } from '../lib/fair-turns.ts';
import { SemaphoreFull } from '../lib/semaphore.ts';

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** The first bytes of a file that its dimensions are read from. In a JPEG they come after the metadata. */
export const pictureHeadBytes = 262_144;

/** PNG and WebP take 4 bytes for each pixel while they are decoded: 24 million took 100 MB. A JPEG is scaled while it is decoded. */
const maxPixels = { jpeg: 50_000_000, other: 24_000_000 } as const;

/** A progressive JPEG has about ten. Each takes as long as a whole picture: 400 scans of 80 kB took 4 s. */
const maxScans = 15;

/**
 * A picture counts as one more request for so many pixels or bytes, whichever are more. Decoding them takes up to 20 ms: a
 * PNG of one bit took 44 ns for a pixel, a noisy WebP 54 ns for a byte, a JPEG of 15 scans 10 ns for a pixel.
 */
const perRequest = { jpeg: 2_000_000, other: 400_000 } as const;

/** Pictures that are being decoded or wait for it. One person has half of them. */
const maxWaiting = 100;

const thumbnailPixels = 400;
const maxThumbnailBytes = 262_144;

/** The sides of an avatar, the largest first. */
export const avatarSizes = [256, 64] as const;
export type AvatarSize = (typeof avatarSizes)[number];

/** An avatar is cut from the middle of a picture whose sides are in at most this ratio. */
const maxRatio = 8;

const quality = 80;

/** The formats that are decoded on every operating system. */
const formats: ReadonlySet<Bun.Image.Format> = new Set(['jpeg', 'png', 'webp', 'gif', 'bmp']);

/** The bytes are no picture that can be decoded. The message continues a sentence about the file. */
export class UnusablePicture extends Error {}

/**
 * Returns the dimensions of an upright picture, given its first bytes. Returns undefined if they are no picture of a known
 * format, or if it is too large to be decoded.
 */
export async function dimensionsOf(head: Uint8Array): Promise<Dimensions | undefined> {
  try {
    return await inspect(head);
  } catch (error) {
    if (error instanceof UnusablePicture) return undefined;
    throw error;
  }
}

async function inspect(bytes: Uint8Array): Promise<Dimensions> {
  // The library takes an empty array for one that was transferred.
  if (bytes.length === 0) throw new UnusablePicture('is empty');
  const image = new Bun.Image(bytes, { maxPixels: maxPixels.jpeg });
  const { width, height, format } = await decoded(() => image.metadata());
  if (!formats.has(format)) throw new UnusablePicture('is not a picture in JPEG, PNG, WebP or GIF');
  const limit = format === 'jpeg' ? maxPixels.jpeg : maxPixels.other;
  if (width * height > limit) throw new UnusablePicture(`has more than ${limit / 1e6} million pixels`);
  return { width, height };
}

/**
 * Makes smaller pictures, one at a time, so that the memory is bounded: `read` is called when it is their turn. The people
 * who ask take turns. The pictures have no metadata.
 */
export class Pictures {
  readonly #turns = new FairTurns<UserId>(maxWaiting);

  /** Returns a WebP of at most 400 pixels on each side. Throws `UnusablePicture`, or `unavailable` if too many wait. */
  async thumbnail(ownerId: UserId, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const side = thumbnailPixels;
    const made = await this.#decode(ownerId, async () => {
      const bytes = await read();
      await prepare(bytes);
      const image = new Bun.Image(bytes, { maxPixels: maxPixels.jpeg });
      return image.resize(side, side, { fit: 'inside', withoutEnlargement: true }).webp({ quality }).bytes();
    });
    if (made.length > maxThumbnailBytes) throw new UnusablePicture('has too large a color profile');
    return made;
  }

  /** Returns the middle of a picture as a square WebP of each size. Throws like `thumbnail`. */
  async avatar(
    ownerId: UserId,
    read: () => Promise<Uint8Array>,
    charge?: (requests: number) => void,
  ): Promise<Record<AvatarSize, Uint8Array>> {
    const [side] = avatarSizes;
    return this.#decode(ownerId, async () => {
      const bytes = await read();
      const { width, height } = await prepare(bytes, charge);
      const [short, long] = [Math.min(width, height), Math.max(width, height)];
      if (long > short * maxRatio) throw new UnusablePicture('is too long and narrow');
      const scaled = (length: number) => Math.max(side, Math.round((length * side) / short));
      const image = new Bun.Image(bytes, { maxPixels: maxPixels.jpeg });
      const whole = await image.resize(scaled(width), scaled(height)).png({ compressionLevel: 0 }).buffer();
      const square = cropToSquare(whole);
      const webp = (size: AvatarSize) => new Bun.Image(square).resize(size, size).webp({ quality }).bytes();
      return { 256: await webp(256), 64: await webp(64) };
    });
  }

  async #decode<T>(ownerId: UserId, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#turns.run(ownerId, () => decoded(work));
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error;
      throw new ParleyError('unavailable', 'Too many pictures are being processed. Try again in a moment.');
    }
  }
}

/** Checks a picture and charges for it, before it is decoded. */
async function prepare(bytes: Uint8Array, charge?: (requests: number) => void): Promise<Dimensions> {
  const dimensions = await inspect(bytes);
  if (countScans(bytes) > maxScans) throw new UnusablePicture('has too many scans');
  charge?.(pictureCost({ ...dimensions, size: bytes.length, isJpeg: isJpeg(bytes) }));
  return dimensions;
}

/** Returns how many more requests a call counts as that decodes a picture of `size` bytes: at least one. */
export function pictureCost(picture: Dimensions & { readonly size: number; readonly isJpeg: boolean }): number {
  const { width, height, size } = picture;
  return Math.ceil(Math.max(width * height, size) / (picture.isJpeg ? perRequest.jpeg : perRequest.other));
}

const isJpeg = ([first, second]: Uint8Array): boolean => first === 0xff && second === 0xd8;

/** Counts the scans of a JPEG. Inside of a scan 0xff is never followed by 0xda. */
function countScans(bytes: Uint8Array): number {
  if (!isJpeg(bytes)) return 0;
  const [data, start] = [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), Buffer.from([0xff, 0xda])];
  let count = 0;
  for (let at = data.indexOf(start); at >= 0 && count <= maxScans; at = data.indexOf(start, at + 2)) count++;
  return count;
}

async function decoded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code === 'ERR_IMAGE_TOO_MANY_PIXELS') throw new UnusablePicture('has too many pixels', { cause: error });
    if (code === 'ERR_IMAGE_UNKNOWN_FORMAT' || code === 'ERR_IMAGE_FORMAT_UNSUPPORTED') {
      throw new UnusablePicture('is not a picture in JPEG, PNG, WebP or GIF', { cause: error });
    }
    if (code.startsWith('ERR_IMAGE_')) throw new UnusablePicture('is a damaged picture', { cause: error });
    throw error;
  }
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bytesPerPixel = 4;

/** Returns the middle of a PNG as the library encodes it without compression: RGBA, 8 bits, no filters. It cannot crop. */
function cropToSquare(png: Buffer): Buffer {
  const [header, ...data] = chunksOf(png);
  if (!header) throw new Error('a PNG has no header');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const pixels = inflateSync(Buffer.concat(data));
  const side = Math.min(width, height);
  const [left, top] = [(width - side) >> 1, (height - side) >> 1];
  const stride = 1 + width * bytesPerPixel;
  if (header.subarray(8).compare(Buffer.from([8, 6, 0, 0, 0])) !== 0 || pixels.length !== height * stride) {
    throw new Error('the library encodes PNG in another way');
  }
  const rows = Array.from({ length: side }, (_, y) => {
    const row = (top + y) * stride;
    if (pixels[row] !== 0) throw new Error('the library filters PNG');
    const first = row + 1 + left * bytesPerPixel;
    return [Buffer.alloc(1), pixels.subarray(first, first + side * bytesPerPixel)];
  });
  const square = Buffer.from(header);
  square.writeUInt32BE(side, 0);
  square.writeUInt32BE(side, 4);
  const body = deflateSync(Buffer.concat(rows.flat()), { level: 1 });
  return Buffer.concat([signature, chunk('IHDR', square), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

/** Returns the contents of the header of a PNG and of its data. */
function chunksOf(png: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = signature.length; at < png.length; ) {
    const size = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR' || type === 'IDAT') found.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  return found;
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(content.length);
  sum.writeUInt32BE(Bun.hash.crc32(named));
  return Buffer.concat([size, named, sum]);
}
