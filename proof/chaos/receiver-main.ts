import { createServer } from 'node:http';
import { given, say } from './frame/say.ts';
import type { Noted } from './receiver-process.ts';

/** The process of an endpoint that accepts whatever comes. Everything is said before it is done, since it may be killed. */
const { port } = given<{ port: number }>();
const note: (noted: Noted | 'listening') => void = say;
let count = 0;

const answerMs = 5;

createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('error', () => {});
  response.on('error', () => {});
  request.on('end', () => {
    const number = ++count;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    note({ arrived: number, headers, body: Buffer.concat(parts).toString('base64') });
    // It takes a while, so that a kill meets requests under way.
    setTimeout(() => {
      if (request.socket.destroyed) return;
      note({ accepted: number });
      response.writeHead(200).end('thank you');
    }, answerMs);
  });
}).listen(port, '127.0.0.1', () => note('listening'));
