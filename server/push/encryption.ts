import { createCipheriv, createECDH, createHmac } from 'node:crypto';

/** The keys that a browser made for its subscription, in base64url. */
export interface ReceiverKeys {
  readonly p256dh: string;
  readonly auth: string;
}

/** The key pair and the salt of one message. */
export interface MessageKeys {
  /** 16 bytes. */
  readonly salt: Uint8Array;
  /** A private key of P-256. */
  readonly privateKey: Uint8Array;
}

/** The largest text: push services take bodies of 4,096 bytes, of which the header, the delimiter and the tag take 103. */
export const maxPlainBytes = 3_993;

const recordBytes = 4_096;
const curve = 'prime256v1';

const hmac = (key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** HKDF of RFC 5869 for at most 32 bytes. */
const hkdf = (salt: Uint8Array, secret: Uint8Array, info: Uint8Array, length: number): Buffer =>
  hmac(hmac(salt, secret), info, Uint8Array.of(1)).subarray(0, length);

const label = (name: string): Buffer => Buffer.from(`Content-Encoding: ${name}\0`);

/** Returns whether a text is a public key that messages can be encrypted to. */
export function isReceiverKey(p256dh: string): boolean {
  try {
    const ecdh = createECDH(curve);
    ecdh.generateKeys();
    const key = Buffer.from(p256dh, 'base64url');
    return key.length === 65 && key[0] === 4 && ecdh.computeSecret(key).length === 32;
  } catch {
    return false;
  }
}

/** Returns a new key pair and salt. */
export function newMessageKeys(random: (bytes: number) => Uint8Array): MessageKeys {
  const ecdh = createECDH(curve);
  ecdh.generateKeys();
  return { salt: random(16), privateKey: ecdh.getPrivateKey() };
}

/** Returns the body of a push message: one record of `aes128gcm` (RFC 8188) under the key of RFC 8291. */
export function encrypt(text: Uint8Array, { p256dh, auth }: ReceiverKeys, { salt, privateKey }: MessageKeys): Buffer {
  if (text.length > maxPlainBytes) throw new Error(`a push message has at most ${maxPlainBytes} bytes`);
  const receiver = Buffer.from(p256dh, 'base64url');
  const ecdh = createECDH(curve);
  ecdh.setPrivateKey(privateKey);
  const sender = ecdh.getPublicKey();
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender]);
  const secret = hkdf(Buffer.from(auth, 'base64url'), ecdh.computeSecret(receiver), keyInfo, 32);
  const key = hkdf(salt, secret, label('aes128gcm'), 16);
  const nonce = hkdf(salt, secret, label('nonce'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // The byte 2 ends the last record.
  const record = [cipher.update(text), cipher.update(Uint8Array.of(2)), cipher.final(), cipher.getAuthTag()];
  const header = Buffer.alloc(21);
  header.set(salt);
  header.writeUInt32BE(recordBytes, 16);
  header[20] = sender.length;
  return Buffer.concat([header, sender, ...record]);
}
