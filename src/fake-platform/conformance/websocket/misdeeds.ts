// What no honest platform does on a socket, one misdeed per socket, placed once per run: wrong first messages, unreadable
// messages, and messages at the wrong time. Judges nothing.
import type { JsonObject } from '../../../base/json.ts';
import type { Key } from '../../caller/key.ts';
import { silenceOf } from '../quiet-line.ts';
import type { Acts } from '../survey.ts';
import { FOREIGN_ORGANIZATION, type Suspect } from '../suspect.ts';
import type { Message } from './message.ts';
import type { SocketRecord } from './socket-probe.ts';
import { audioOf, eventOf, keysOf, type SocketCall } from './socket-call.ts';

/** Ids that do not exist. */
const [OTHER_CONVERSATION, OTHER_AGENT] = ['conformance-other-conversation', 'conformance-no-such-agent'];
/** Larger than any server needs to accept, bytes (W-45). */
const HUGE_BYTES = 20 * 1024 * 1024;
/** How long its transmission may take, ms. */
const HUGE_MS = 20_000;
/** How long the server may take to answer a misdeed, ms. */
const MISDEED_MS = 6000;
/** How long a socket may stay silent, ms (W-20). */
const FIRST_MESSAGE_MS = 15_000;

/** One misdeed. */
interface Misdeed {
  readonly name: MisdeedName;
  /** Done on a new socket, not after a welcome. */
  readonly isFirst?: true;
  /** Commits the misdeed; undefined: stays silent. */
  readonly act?: (call: SocketCall, keys: readonly Key[]) => void;
  /** How long to wait for the server's reaction, ms. Default {@link MISDEED_MS}. */
  readonly waitMs?: number;
}

/** Their names. */
export type MisdeedName =
  | 'no message'
  | 'audio before SESSION_START'
  | 'another organization'
  | 'a binary frame'
  | 'no JSON'
  | 'a request without a payload'
  | 'an input of two kinds'
  | 'audio that is no base64'
  | 'two conversation ids in one message'
  | 'a second SESSION_START'
  | 'another conversation'
  | 'another agent'
  | 'another organization later'
  | 'a number again'
  | 'a lower number'
  | 'a message of 20 MB';

function request(call: SocketCall, payload: JsonObject, what: string, head: JsonObject = {}): void {
  call.socket.sendText(call.envelope('VOICE_VA_REQUEST', { payload, ...head }), what);
}

/** What each call does, in order. */
const MISDEEDS: readonly Misdeed[] = [
  { name: 'no message', isFirst: true, waitMs: FIRST_MESSAGE_MS },
  {
    name: 'audio before SESSION_START',
    isFirst: true,
    act: (call) => {
      call.send(audioOf(silenceOf(100)), audioOf(silenceOf(100)));
    },
  },
  {
    name: 'another organization',
    isFirst: true,
    act: (call) => {
      request(
        call,
        call.payload(eventOf('SESSION_START'), { organizationId: FOREIGN_ORGANIZATION }),
        'SESSION_START of another organization',
      );
    },
  },
  {
    name: 'a binary frame',
    isFirst: true,
    act: (call) => {
      const text = call.envelope('VOICE_VA_REQUEST', { payload: call.payload(eventOf('SESSION_START')) });
      call.socket.sendBinary(Buffer.from(text), 'SESSION_START in a binary frame');
    },
  },
  {
    name: 'no JSON',
    act: (call) => {
      call.socket.sendText('{"type":"VOICE_VA_REQUEST","seq":', 'text that is no JSON');
    },
  },
  {
    name: 'a request without a payload',
    act: (call) => {
      call.socket.sendText(call.envelope('VOICE_VA_REQUEST'), 'VOICE_VA_REQUEST without a payload');
    },
  },
  {
    name: 'an input of two kinds',
    act: (call, keys) => {
      request(call, call.payload({ ...eventOf('NO_INPUT'), ...keysOf(keys) }), 'NO_INPUT and keys in one input');
    },
  },
  {
    name: 'audio that is no base64',
    act: (call) => {
      const audio = { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64: '*** no base64 ***' };
      request(call, call.payload({ audio_input: audio }), 'audio that is no base64');
    },
  },
  {
    name: 'two conversation ids in one message',
    act: (call, keys) => {
      request(call, call.payload(keysOf(keys)), 'keys in an envelope of another conversation', { conversation_id: OTHER_CONVERSATION });
    },
  },
  {
    name: 'a second SESSION_START',
    act: (call) => {
      call.send(eventOf('SESSION_START'));
    },
  },
  {
    name: 'another conversation',
    act: (call, keys) => {
      const payload = call.payload(keysOf(keys), { conversationId: OTHER_CONVERSATION });
      request(call, payload, 'keys of another conversation', { conversation_id: OTHER_CONVERSATION });
    },
  },
  {
    name: 'another agent',
    act: (call, keys) => {
      request(call, call.payload(keysOf(keys), { agentId: OTHER_AGENT }), 'keys for another agent');
    },
  },
  {
    name: 'another organization later',
    act: (call, keys) => {
      request(call, call.payload(keysOf(keys), { organizationId: FOREIGN_ORGANIZATION }), 'keys of another organization');
    },
  },
  {
    name: 'a number again',
    act: (call, keys) => {
      request(call, call.payload(keysOf(keys)), 'keys with the number of the last message', { seq: call.seq });
    },
  },
  {
    name: 'a lower number',
    act: (call, keys) => {
      call.skipTo(100);
      call.send(audioOf(silenceOf(20)));
      request(call, call.payload(keysOf(keys)), 'keys with a lower number than before', { seq: 7 });
    },
  },
  {
    name: 'a message of 20 MB',
    waitMs: HUGE_MS,
    act: (call) => {
      request(call, call.payload({ audio_input: { ...HUGE_AUDIO, caller_audio_b64: 'A'.repeat(HUGE_BYTES) } }), 'audio of 20 MB');
    },
  },
];

const HUGE_AUDIO = { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000 };

/** A call with each misdeed. */
export const MISDEED_ACTS: Acts<SocketCall> = Object.fromEntries(
  MISDEEDS.map(({ name, act, isFirst, waitMs = MISDEED_MS }) => [
    name,
    async (call: SocketCall, { press }: Suspect): Promise<void> => {
      if (isFirst === true) await call.socket.upgraded();
      else if ((await call.begin()).final === undefined) return;
      if (!call.socket.isOpen) return;
      const turn = call.open('custom_event');
      act?.(call, press);
      // An unexpected answer is recorded, too.
      await call.socket.until(() => call.socket.isOver || turn.final !== undefined, waitMs);
      await call.socket.close();
    },
  ]),
);

/** What came after a misdeed; undefined when it could not be done because there was no welcome. */
export function afterMisdeed({ turns }: SocketRecord): readonly Message[] | undefined {
  const turn = turns.at(-1);
  return turn?.kind === 'custom_event' ? turn.messages : undefined;
}
