// Messages that no honest platform sends, one misdeed per socket, placed once per run: wrong first messages, unreadable
// messages, and messages at the wrong time. Judges nothing.
import type { JsonObject } from '../../../base/json.ts';
import type { Key } from '../../caller/key.ts';
import type { ProbeIds } from '../call.ts';
import { silenceOf } from '../quiet-line.ts';
import type { Acts } from '../survey.ts';
import { FOREIGN_ORGANIZATION, type Suspect } from '../suspect.ts';
import type { Message } from './message.ts';
import type { SocketRecord, SocketLab } from './socket-probe.ts';
import { audioOf, eventOf, keysOf, type SocketCall, type SocketTurn } from './socket-call.ts';
import { eachCall, firstBreach, judge, NOTHING, type Found } from '../shape-check.ts';

/** Ids that do not exist. */
const [OTHER_CONVERSATION, OTHER_AGENT] = ['conformance-other-conversation', 'conformance-no-such-agent'];
/** Size of a message, larger than any server needs to accept, bytes (W-45). */
const HUGE_BYTES = 20 * 1024 * 1024;
/** How long sending this message may take, ms. */
const HUGE_MS = 20_000;
/** How long to wait for the server's reaction to a misdeed, ms. */
const MISDEED_MS = 6000;
/** How long to wait until a server closes a silent socket, ms (W-20). */
const FIRST_MESSAGE_MS = 15_000;

interface Misdeed {
  /** True: done on a new socket. Otherwise after a welcome. */
  readonly isFirst?: true;
  /** Commits the misdeed. Undefined: the caller stays silent. */
  readonly act?: (call: SocketCall, keys: readonly Key[]) => void;
  /** How long to wait for the server's reaction, ms. Default {@link MISDEED_MS}. */
  readonly waitMs?: number;
}

export type MisdeedName = keyof typeof MISDEEDS;

function request(call: SocketCall, payload: JsonObject, what: string, head: JsonObject = {}): void {
  call.socket.sendText(call.envelope('VOICE_VA_REQUEST', { payload, ...head }), what);
}

/** Sends keys with other ids than the call's. */
function keysWith(ids: Partial<ProbeIds>, what: string, head?: JsonObject): Misdeed {
  return { act: (call, keys) => request(call, call.payload(keysOf(keys), ids), what, head) };
}

const AUDIO = { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000 };

/** The misdeeds, each of them in a call of its own. */
const MISDEEDS = {
  'no message': { isFirst: true, waitMs: FIRST_MESSAGE_MS },
  'audio before SESSION_START': { isFirst: true, act: (call) => call.send(audioOf(silenceOf(100)), audioOf(silenceOf(100))) },
  'another organization': {
    isFirst: true,
    act: (call) => {
      const payload = call.payload(eventOf('SESSION_START'), { organizationId: FOREIGN_ORGANIZATION });
      request(call, payload, 'SESSION_START of another organization');
    },
  },
  'a binary frame': {
    isFirst: true,
    act: (call) => {
      const text = call.envelope('VOICE_VA_REQUEST', { payload: call.payload(eventOf('SESSION_START')) });
      call.socket.sendBinary(Buffer.from(text), 'SESSION_START in a binary frame');
    },
  },
  'no JSON': { act: (call) => call.socket.sendText('{"type":"VOICE_VA_REQUEST","seq":', 'text that is no JSON') },
  'a request without a payload': {
    act: (call) => call.socket.sendText(call.envelope('VOICE_VA_REQUEST'), 'VOICE_VA_REQUEST without a payload'),
  },
  'an input of two kinds': {
    act: (call, keys) => request(call, call.payload({ ...eventOf('NO_INPUT'), ...keysOf(keys) }), 'NO_INPUT and keys in one input'),
  },
  'audio that is no base64': {
    act: (call) => {
      const payload = call.payload({ audio_input: { ...AUDIO, caller_audio_b64: '*** no base64 ***' } });
      request(call, payload, 'audio that is no base64');
    },
  },
  'two conversation ids in one message': keysWith({}, 'keys in an envelope of another conversation', {
    conversation_id: OTHER_CONVERSATION,
  }),
  'a second SESSION_START': { act: (call) => call.send(eventOf('SESSION_START')) },
  'another conversation': keysWith({ conversationId: OTHER_CONVERSATION }, 'keys of another conversation', {
    conversation_id: OTHER_CONVERSATION,
  }),
  'another agent': keysWith({ agentId: OTHER_AGENT }, 'keys for another agent'),
  'another organization later': keysWith({ organizationId: FOREIGN_ORGANIZATION }, 'keys of another organization'),
  'a number again': {
    act: (call, keys) => request(call, call.payload(keysOf(keys)), 'keys with the number of the last message', { seq: call.seq }),
  },
  'a lower number': {
    act: (call, keys) => {
      call.skipTo(100);
      call.send(audioOf(silenceOf(20)));
      request(call, call.payload(keysOf(keys)), 'keys with a lower number than before', { seq: 7 });
    },
  },
  'a message of 20 MB': {
    waitMs: HUGE_MS,
    act: (call) => request(call, call.payload({ audio_input: { ...AUDIO, caller_audio_b64: 'A'.repeat(HUGE_BYTES) } }), 'audio of 20 MB'),
  },
} as const satisfies Readonly<Record<string, Misdeed>>;

const MISDEED_ACTS: Acts<SocketCall> = Object.fromEntries(
  Object.entries<Misdeed>(MISDEEDS).map(([name, { act, isFirst, waitMs = MISDEED_MS }]) => [
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

/** The messages after a misdeed; undefined when there was no welcome, so that the misdeed could not be done. */
function afterMisdeed({ turns }: SocketRecord): readonly Message[] | undefined {
  const turn = turns.at(-1);
  return turn?.kind === 'custom_event' ? turn.messages : undefined;
}

type Run = (lab: SocketLab) => Promise<void>;

/** As {@link eachCall} for every message of a call. */
export function eachMessage(otherwise: string, inspect: (message: Message, call: SocketRecord) => Found): Run {
  return eachCall(otherwise, (record: SocketRecord) =>
    firstBreach(record.call.socket.received.map((message, index) => [`message ${String(index + 1)}`, inspect(message, record)])),
  );
}

/**
 * A check that examines misdeeds. Those that could not be done do not count.
 *
 * @param inspect - called with each misdeed, and with the messages after it.
 */
export function eachMisdeed(of: readonly MisdeedName[], inspect: (misdeed: SocketRecord, after: readonly Message[]) => Found): Run {
  return async (lab) => {
    const misdeeds = (await lab.placed(MISDEED_ACTS)).filter(({ name }) => of.some((each) => each === name));
    const inspectOne = (misdeed: SocketRecord): Found => {
      const after = afterMisdeed(misdeed);
      return after === undefined ? NOTHING : inspect(misdeed, after);
    };
    judge(lab, misdeeds, inspectOne, 'the server did nothing that a check could examine');
  };
}

/** Requires that a call still answers. @param likewise - does to the call for comparison what else was done to this one. */
export async function demandAlive(
  lab: SocketLab,
  call: SocketCall,
  after: string,
  likewise: (control: SocketCall) => void = () => undefined,
): Promise<SocketTurn> {
  const turn = await call.goOn(lab.suspect.press);
  if (turn.isAnswered) return turn;
  lab.note(`the same turn without ${after}`);
  const control = await lab.ready();
  likewise(control);
  if (!(await control.goOn(lab.suspect.press)).isAnswered) lab.skip(`the same turn is not answered without ${after} either`);
  await control.hangUp();
  return lab.fail(`after ${after} the next turn ${call.socket.stateText}, and without it the same turn was answered`);
}
