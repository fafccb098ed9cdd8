// What is written on a connection for gRPC in place of HTTP/2: frames of a stranger, and of somebody whose token is good.
import tls from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { loadContract } from '../../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../../src/contract/profile.ts';
import { framed } from '../../../src/transport/forward/frames.ts';
import type { Area, Reaction } from '../area.ts';
import { ABUSES, type Abuse, FRAME_HEAD_BYTES, frame, GREETING, PREFACE, requestOf, TYPE } from '../http2-abuses.ts';
import { CONVERSATION, messagesOf } from '../messages.ts';
import { mutated, mutatedParts } from '../mutations.ts';
import { ANSWER_MS, atMost, freshConversation, isClosedWithin, replaced, type Target } from '../target.ts';

/** Stands for a good token and what must come before it: blanks fill the rest of its place. */
const TOKEN = `Bearer ${'T'.repeat(1193)}`;
/** Stands for the path of the RPC, which each profile has of its own; as many of its characters as that has. */
const PATH = `/${'P'.repeat(200)}`;
/** Abuses that are longer than this are floods: they are written as they are, and not changed. */
const MAX_SEED_BYTES = 40_000;
/** 42 bytes after which Node 20 neither closes a connection nor sees that its client has. */
const BROKEN = Buffer.concat([PREFACE, Buffer.from('000000040000000000ffffff000000000001', 'hex')]);
/** Connections of a flood, and how many a second. */
const [FLOOD, FLOOD_PER_S] = [1100, 200];

/** @param target - undefined: nothing is sent. */
export function http2Frames(profile: PlatformProfile, target: Target | undefined): Area {
  const path = loadContract(profile).media.processCallerInputPath;
  const placeholder = PATH.slice(0, path.length);
  const request = requestOf(placeholder, { authorization: TOKEN });
  const messages = messagesOf(profile).map((message) => frame(TYPE.data, 0, 1, framed(message)));
  const call = Buffer.concat([GREETING, frame(TYPE.headers, 4, 1, request), ...messages, frame(TYPE.data, 1, 1)]);
  const short = ABUSES.map(({ pieces }) => Buffer.concat([...pieces()])).filter(({ length }) => length <= MAX_SEED_BYTES);
  return {
    name: 'http2-frames',
    seeds: [call, ...short],
    mutate: mutatedFrames,
    lanes: 24,
    ...(target !== undefined && {
      send: (input: Buffer) => send(replaced(input, placeholder, path), target),
      besides: (isOver: () => boolean) => besides(target, isOver),
    }),
  };
}

/** Frames left out, repeated, in another place, from another input, or changed; rarely without a preface. */
export function mutatedFrames(input: Buffer, random: () => number, other: Buffer): Buffer {
  if (random() < 0.2) return mutated(input, random, other);
  const parts = mutatedParts(framesOf(input), random, framesOf(other), (part) => changedFrame(part, random));
  return Buffer.concat([...(random() < 0.97 ? [PREFACE] : []), ...parts]);
}

/** What follows the preface, frame by frame; the last one may be broken off. */
function framesOf(input: Buffer): readonly Buffer[] {
  const frames: Buffer[] = [];
  for (let at = input.indexOf(PREFACE) === 0 ? PREFACE.length : 0; at < input.length && frames.length < 200;) {
    const end = at + FRAME_HEAD_BYTES + (at + FRAME_HEAD_BYTES <= input.length ? input.readUIntBE(at, 3) : 0);
    frames.push(input.subarray(at, end));
    at = end;
  }
  return frames;
}

/** Another type, flag or stream, or another payload with its length right or wrong. */
function changedFrame(part: Buffer, random: () => number): Buffer {
  if (part.length < FRAME_HEAD_BYTES) return mutated(part, random);
  const changed = Buffer.from(part);
  const kind = Math.floor(random() * 6);
  if (kind === 0) changed[3] = Math.floor(random() * 12);
  else if (kind === 1) changed[4] = (changed[4] ?? 0) ^ (1 << Math.floor(random() * 8));
  else if (kind === 2) changed.writeUInt32BE(Math.floor(random() * 8), 5);
  else if (kind === 3) changed[Math.floor(random() * FRAME_HEAD_BYTES)] = Math.floor(random() * 256);
  else {
    const payload = mutated(part.subarray(FRAME_HEAD_BYTES), random).subarray(0, 16_384);
    const head = changed.subarray(0, FRAME_HEAD_BYTES);
    if (kind === 4) head.writeUIntBE(payload.length, 0, 3);
    return Buffer.concat([head, payload]);
  }
  return changed;
}

async function send(input: Buffer, target: Target): Promise<Reaction> {
  const socket = connect(target);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const bytes = replaced(freshConversation(input, CONVERSATION), TOKEN, `Bearer ${target.token.padStart(TOKEN.length - 'Bearer '.length)}`);
  // Whoever says no more is closed sooner than whoever stays.
  socket.end(bytes);
  const isClosed = await isClosedWithin(socket, ANSWER_MS);
  const outcome = answersIn(Buffer.concat(chunks));
  if (!isClosed) return { outcome: `open ${outcome}`, wrong: 'a connection of a stranger stayed open' };
  return { outcome };
}

/**
 * Kinds of frames that came, with the codes of ends. None of the codes is wrong: with INTERNAL_ERROR Node answers whoever speaks no
 * HTTP/2, and a second request with too many headers.
 */
export function answersIn(said: Buffer): string {
  const kinds = new Set<string>();
  for (const part of framesOf(said)) {
    if (part.length < FRAME_HEAD_BYTES) continue;
    const type = part[3];
    const at = type === TYPE.goaway ? 4 : type === TYPE.reset ? 0 : undefined;
    const code = at === undefined || part.length < FRAME_HEAD_BYTES + at + 4 ? undefined : part.readUInt32BE(FRAME_HEAD_BYTES + at);
    kinds.add(`${String(type)}${code === undefined ? '' : `:${String(code)}`}`);
  }
  return [...kinds].sort().join(' ');
}

/** All abuses once, floods among them; then connections that break the protocol and such that say nothing, more than a server keeps. */
async function besides(target: Target, isOver: () => boolean): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const each of ABUSES) {
    if (isOver()) return wrong;
    if (!(await abuse(each, target))) wrong.push(`a connection stayed open after ${each.name}`);
  }
  while (!isOver()) for (const bytes of [BROKEN, Buffer.alloc(0)]) await flood(bytes, target, isOver);
  return wrong;
}

/** @returns whether the server has ended the connection, sooner or later. */
async function abuse({ pieces, isReading = true }: Abuse, target: Target): Promise<boolean> {
  const socket = connect(target);
  const closed = new Promise<true>((resolve) => {
    socket.once('close', () => {
      resolve(true);
    });
  });
  if (isReading) socket.resume();
  for (const piece of pieces()) {
    if (socket.destroyed) break;
    if (socket.write(piece)) continue;
    // Who reads nothing may be read no more; then this is all there is to send.
    const drained = new Promise<true>((resolve) => {
      socket.once('drain', () => {
        resolve(true);
      });
    });
    if ((await atMost(Promise.race([drained, closed]), 1000)) === undefined) socket.removeAllListeners('drain');
  }
  // Whoever does not read sees no end, and would wait for ever: now it does.
  if (!isReading) {
    await pause(1000);
    socket.resume();
  }
  return isClosedWithin(socket, ANSWER_MS);
}

async function flood(bytes: Buffer, target: Target, isOver: () => boolean): Promise<void> {
  const open: tls.TLSSocket[] = [];
  for (let each = 0; each < FLOOD && !isOver(); each += 1) {
    const socket = connect(target);
    socket.write(bytes);
    // Read, or the end is a reset, which the server would see.
    socket.resume().once('data', () => bytes.length > 0 && socket.end());
    open.push(socket);
    if (each % 10 === 9) await pause(10_000 / FLOOD_PER_S);
  }
  for (const socket of open) socket.destroy();
}

function connect({ port, certificatePem }: Target): tls.TLSSocket {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificatePem, ALPNProtocols: ['h2'] });
  return socket.on('error', () => undefined);
}
