// Messages on a WebSocket: one a line; a line that begins with `!` goes as a binary message.
import { WebSocket } from 'ws';
import { AppError } from '../../../src/base/errors.ts';
import { Gate } from '../../../src/transport/gate.ts';
import { EnvelopeReader } from '../../../src/transport/ws/envelope-reader.ts';
import { reactionOf, type Area, type Reaction } from '../area.ts';
import { CONVERSATION, envelopesOf } from '../messages.ts';
import { mutated, mutatedParts, mutatedText } from '../mutations.ts';
import { ANSWER_MS, atMost, freshConversation, type Target } from '../target.ts';

/** What a socket is given after its last message, ms. */
const PATIENCE_MS = 300;
/** Close codes of this protocol, of its library, and 1005 and 1006 for none. 1011 says that the server is to blame. */
const CLOSE_CODES = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1013]);

export function envelopes(target?: Target): Area {
  const texts = envelopesOf();
  return {
    name: 'envelopes',
    seeds: [texts.join('\n'), ...texts].map((text) => Buffer.from(text)),
    mutate: (input, random, other) => {
      if (random() < 0.1) return mutated(input, random, other);
      const change = (part: Buffer): Buffer => Buffer.from(mutatedText(part.toString(), random));
      const lines = mutatedParts(linesOf(input), random, linesOf(other), change).map(String);
      // Numbers that do not rise end a call at once.
      const numbered = random() < 0.1 ? lines : lines.map((line, index) => line.replace(/"seq":\d+/u, `"seq":${String(index + 1)}`));
      return Buffer.from(numbered.join('\n'));
    },
    read: readAll,
    ...(target !== undefined && { send: (input) => send(input, target), lanes: 16 }),
  };
}

function linesOf(input: Buffer): readonly Buffer[] {
  return input
    .toString()
    .split('\n')
    .map((line) => Buffer.from(line));
}

function readAll(input: Buffer): Promise<Reaction> {
  const gate = new Gate(undefined, 'websocket');
  return reactionOf(
    () => {
      const reader = new EnvelopeReader({ kind: 'unchecked' }, gate);
      const kinds = linesOf(input).map((line) => {
        const envelope = reader.read(line);
        if (envelope?.type !== 'VOICE_VA_REQUEST') return envelope?.type ?? 'later';
        return (reader.bound === undefined ? reader.first(envelope).input : reader.further(envelope))?.kind ?? 'later';
      });
      return [...new Set(kinds)].sort().join(' ');
    },
    (thrown) => (thrown instanceof AppError ? `${thrown.code} ${thrown.message}` : undefined),
  );
}

async function send(input: Buffer, { socketPort, socketToken, certificatePem }: Target): Promise<Reaction> {
  const socket = new WebSocket(`wss://localhost:${String(socketPort)}/v1/va`, {
    headers: { authorization: `Bearer ${socketToken}` },
    ca: certificatePem,
  });
  const said = new Set<string>();
  socket.on('error', () => undefined);
  socket.on('message', (text: Buffer) => said.add(typeOf(text)));
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve);
  });
  const opened = new Promise<true>((resolve) => {
    socket.once('open', () => {
      resolve(true);
    });
  });
  if ((await atMost(Promise.race([opened, closed]), ANSWER_MS)) !== true) {
    socket.terminate();
    return { outcome: 'not opened', wrong: 'a socket with a good token was not opened' };
  }
  for (const line of freshConversation(input, CONVERSATION).toString().split('\n')) {
    if (socket.readyState !== WebSocket.OPEN) break;
    if (line.startsWith('!')) socket.send(Buffer.from(line.slice(1)), { binary: true });
    else socket.send(line);
  }
  const code = await atMost(closed, PATIENCE_MS);
  socket.terminate();
  const outcome = `${[...said].sort().join(' ')} ${String(code ?? 'open')}`;
  if (code !== undefined && !CLOSE_CODES.has(code)) return { outcome, wrong: `a socket was closed with ${String(code)}` };
  return { outcome, ...(said.has('ERROR upstream_error') && { wrong: 'a socket was told that the server is to blame' }) };
}

/** Type of a message of the server, and the code of an error. */
function typeOf(text: Buffer): string {
  const { type, code } = JSON.parse(text.toString()) as { readonly type: string; readonly code?: string };
  return code === undefined ? type : `${type} ${code}`;
}
