import { deflateSync } from 'node:zlib';

export type Color = readonly [red: number, green: number, blue: number];

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function chunk(type: string, content: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(content.length);
  sum.writeUInt32BE(Bun.hash.crc32(named));
  return Buffer.concat([size, named, sum]);
}

/** Returns a PNG with these pixels as its compressed data, which need not fit. */
export function pngOf(width: number, height: number, data: Uint8Array, ...extra: Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const body = [chunk('IHDR', header), ...extra, chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...body]);
}

/** Returns a black PNG of one bit for each pixel, which is small and slow to decode. */
export function bitPng(width: number, height: number): Buffer {
  const pixels = deflateSync(Buffer.alloc(height * (1 + Math.ceil(width / 8))));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const body = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...body]);
}

/** Returns a PNG. */
export function png(
  width: number,
  height: number,
  colorAt: (x: number, y: number) => Color,
  ...extra: Buffer[]
): Buffer {
  const stride = 1 + width * 3;
  const pixels = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set(colorAt(x, y), y * stride + 1 + x * 3);
  }
  return pngOf(width, height, deflateSync(pixels), ...extra);
}

let made = 0;

/** Returns a small picture in a color of its own. */
export function picture(width = 8, height = 8): File {
  made++;
  return fileOf(
    png(width, height, () => [(made * 37) & 255, (made * 91) & 255, 99]),
    'picture.png',
  );
}

export const fileOf = (bytes: Uint8Array, name: string): File => new File([Uint8Array.from(bytes)], name);

/** Returns a JPEG with EXIF: an orientation, and a text that must not be shown to others. */
export function withExif(jpeg: Buffer, orientation: number, secret: string): Buffer {
  const entry = Buffer.from('Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0', 'latin1');
  const content = Buffer.concat([entry, Buffer.from([orientation, 0, 0, 0, 0, 0, 0, 0]), Buffer.from(secret)]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)]);
}

/** Returns a JPEG of a few kilobytes with so many scans that decoding it takes minutes. */
export async function scanBomb(): Promise<Buffer> {
  const small = png(30, 20, () => [200, 100, 50]);
  const jpeg = await new Bun.Image(small).resize(4_000, 3_000).jpeg({ progressive: true }).buffer();
  const last = jpeg.subarray(jpeg.lastIndexOf(Buffer.from([0xff, 0xda])), -2);
  const scans = Array.from({ length: 20_000 }, () => last);
  return Buffer.concat([jpeg.subarray(0, -2), ...scans, jpeg.subarray(-2)]);
}

/** Returns the color in the middle of each quarter: top left, top right, bottom left, bottom right. */
export async function quarters(bytes: Uint8Array): Promise<Color[]> {
  const { inflateSync } = await import('node:zlib');
  const small = await new Bun.Image(bytes).resize(2, 2, { filter: 'box' }).png({ compressionLevel: 0 }).buffer();
  const at = small.indexOf('IDAT');
  const pixels = inflateSync(small.subarray(at + 4, at + 4 + small.readUInt32BE(at - 4)));
  return [1, 5, 10, 14].map((i) => [pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0]);
}
