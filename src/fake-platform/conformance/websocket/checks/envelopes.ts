// Checks of the form of the server's messages.
import type { JsonObject, JsonValue } from '../../../../base/json.ts';
import type { Runs } from '../../catalog.ts';
import { silenceOf } from '../../quiet-line.ts';
import { NOTHING, eachCall } from '../../shape-check.ts';
import { objectOf, objectsOf, type Message } from '../message.ts';
import { audioOf, eventOf } from '../socket-call.ts';
import type { SocketLab } from '../socket-probe.ts';
import { demandAlive, eachMessage, eachMisdeed } from '../misdeeds.ts';

/** A date and time of RFC 3339. */
const MOMENT = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/u;
const TYPES: readonly unknown[] = ['VOICE_VA_RESPONSE', 'ERROR', 'PING', 'PONG'];
const RESPONSE_TYPES: readonly unknown[] = ['FINAL', 'PARTIAL', 'CHUNK'];
const WORD = /^[A-Z][A-Z0-9_]*$/u;
/** Gaps in the numbers of our messages: the numbers that we skip to (W-10). */
const GAPS: readonly number[] = [4711, 100_000];
const NO_MESSAGES = 'the server said nothing';

/** Whether a field with this name occurs, at any depth. */
function hasField(value: JsonValue | undefined, name: string): boolean {
  if (Array.isArray(value)) return value.some((each: JsonValue) => hasField(each, name));
  const object = objectOf(value);
  return object !== undefined && Object.entries(object).some(([key, member]) => key === name || hasField(member, name));
}

/** What is wrong with the shape of a payload; undefined when it is right. */
function payloadProblem(payload: JsonObject | undefined): string | undefined {
  if (payload === undefined) return 'a VOICE_VA_RESPONSE has no payload';
  const { response_type: type, input_mode: mode, prompts = [], output_events: events = [], input_handling_config: config } = payload;
  if (!RESPONSE_TYPES.includes(type)) return 'response_type is none of FINAL, PARTIAL and CHUNK';
  if (mode !== undefined && mode !== null && !(typeof mode === 'string' && WORD.test(mode))) return 'input_mode is no name';
  if (!Array.isArray(prompts) || !Array.isArray(events)) return 'prompts or output_events is no list';
  const isPrompt = (prompt: JsonObject): boolean =>
    ['text', 'audio_content_b64', 'audio_uri'].some((name) => typeof prompt[name] === 'string');
  if (!objectsOf(prompts).every(isPrompt)) return 'a prompt has neither text nor audio_content_b64';
  const isEvent = ({ event_type: kind }: JsonObject): boolean => typeof kind === 'string' && WORD.test(kind);
  if (!objectsOf(events).every(isEvent)) return 'an output event has no name as its event_type';
  const termchar = objectOf(objectOf(config)?.['dtmf_config'])?.['termchar'];
  return termchar === undefined || termchar === null || typeof termchar === 'string' ? undefined : 'termchar is no name of a key';
}

/** What is wrong with the shape of a message; undefined when it is right. Numbers and ids have their own rules. */
function shapeProblem({ json }: Message): string | undefined {
  if (json === undefined) return 'it is no object of JSON';
  const { type, ts, conversation_id: id } = json;
  // Unknown types have their own rule (W-27).
  if (!TYPES.includes(type) && type !== 'BARGE_IN') return 'its type is none that a server sends';
  if (typeof ts !== 'string' || !MOMENT.test(ts)) return 'ts is missing or no date and time of RFC 3339';
  if (typeof id !== 'string') return 'conversation_id is missing';
  return type === 'VOICE_VA_RESPONSE' ? payloadProblem(objectOf(json['payload'])) : undefined;
}

/** What is wrong with the order of a server's own numbers; PONGs have the platform's numbers (W-40). */
function seqProblem(messages: readonly Message[]): string | undefined {
  let last = 0;
  for (const { json } of messages) {
    if (json === undefined || json['type'] === 'PONG') continue;
    const { seq } = json;
    if (typeof seq !== 'number' || !Number.isInteger(seq) || seq < 1) return 'a message has no seq of 1 or more';
    if (seq <= last) return `seq ${String(seq)} came after ${String(last)}`;
    last = seq;
  }
  return undefined;
}

export const ENVELOPE_CHECKS: Runs<SocketLab> = {
  'seq-increases': eachCall(NO_MESSAGES, ({ call: { socket } }) => (socket.received.length === 0 ? NOTHING : seqProblem(socket.received))),
  'gaps-taken': async (lab) => {
    const call = await lab.ready();
    for (const seq of GAPS) {
      call.skipTo(seq);
      const turn = await demandAlive(lab, call, `a gap up to seq ${String(seq)}`);
      if (turn.terminal !== undefined) break;
      await call.heardOut(turn);
    }
    await call.hangUp();
  },
  // The contract calls a repeated number invalid, but does not say what a server does about it.
  'repeated-seq-refused': eachMisdeed(['a number again', 'a lower number'], ({ name, turns, call: { socket } }) => {
    if (socket.closing?.isByServer === true) return undefined;
    return turns.at(-1)?.final === undefined
      ? undefined
      : `a message with ${name === 'a number again' ? 'the number of the last one' : 'a lower number'} was answered`;
  }),
  'seq-is-own': async (lab) => {
    const call = await lab.ready();
    let echoed = 0;
    for (const seq of GAPS) {
      call.skipTo(seq);
      const turn = await call.goOn(lab.suspect.press);
      if (turn.final === undefined) lab.skip('gaps in the numbers are not taken, which is another breach');
      if (turn.answers[0]?.json?.['seq'] === turn.seq) echoed += 1;
      if (turn.terminal !== undefined) break;
      await call.heardOut(turn);
    }
    if (echoed === GAPS.length) lab.fail('answers carry the seq of what they answer');
    await call.hangUp();
  },
  'envelope-shape': eachMessage(NO_MESSAGES, shapeProblem),
  'newer-fields-taken': async (lab) => {
    const call = lab.probe.call();
    const socket = call.socket;
    await socket.upgraded();
    const turn = call.open('session_start');
    const input = eventOf('SESSION_START', { conformance: 'newer' });
    const payload = { ...call.payload(input), conformance: { newer: [1] }, additional_info: { campaign: 'spring' } };
    const envelope = call.envelope('VOICE_VA_REQUEST', { payload, metadata: { region: 'here' }, conformance: true });
    socket.sendText(envelope, 'SESSION_START with fields of a newer platform');
    await call.answered(turn);
    if (turn.final === undefined) lab.fail('SESSION_START with fields that are not known got no FINAL');
    await call.hangUp();
  },
  'own-conversation-named': eachMessage(NO_MESSAGES, ({ json }, { call: { ids } }) => {
    const id = json?.['conversation_id'];
    // Before the server has read the first message, it knows no conversation.
    if (typeof id !== 'string' || (id === '' && json?.['type'] === 'ERROR')) return NOTHING;
    return id === ids.conversationId ? undefined : 'conversation_id is another one';
  }),
  'mismatch-refused': eachMisdeed(['two conversation ids in one message'], ({ call: { socket }, turns }) => {
    if (turns.at(-1)?.final !== undefined) return 'the message was answered';
    return socket.closing?.isByServer === true ? undefined : 'the socket was not closed';
  }),
  // Advice only, because the sources disagree.
  'no-input-time-not-sent': eachMessage('the server sent no input settings', ({ json }) => {
    const config = objectOf(json?.['payload'])?.['input_handling_config'];
    if (config === undefined) return NOTHING;
    return hasField(config, 'no_input_timeout_msec') ? 'the input settings carry no_input_timeout_msec' : undefined;
  }),
  // Advice only: the newer text demands this field, but the schema does not.
  'cancellation-field-on-partial': eachMessage('the server answered nothing', ({ answer }) => {
    if (answer === undefined) return NOTHING;
    return answer.playsOn === true && answer.type !== 'partial'
      ? `a ${answer.type.toUpperCase()} carries disable_prompt_cancellation`
      : undefined;
  }),
  'quirks-taken': async (lab) => {
    const call = lab.probe.call();
    const socket = call.socket;
    await socket.upgraded();
    const turn = call.open('session_start');
    const input = eventOf('SESSION_START', { parameters: [{ key: 'asked_by', value: 'conformance' }] });
    const payload = { ...call.payload(input), additional_info: [], vendor_specific_config: null };
    socket.sendText(
      call.envelope('VOICE_VA_REQUEST', { payload, metadata: [] }),
      'SESSION_START with maps as lists and a field that is null',
    );
    await call.answered(turn);
    if (turn.final === undefined) lab.fail('SESSION_START with maps as lists got no FINAL');
    await call.heardOut(turn);
    const audio = objectOf(audioOf(silenceOf(100))['audio_input']);
    call.send({ audio_input: { ...audio, is_single_utterance: null, language_code: null } });
    const next = await demandAlive(lab, call, 'audio whose is_single_utterance is null');
    if (next.terminal === undefined) await call.hangUp();
  },
  'unknown-type-ignored': async (lab) => {
    const call = await lab.ready();
    call.socket.sendText(call.envelope('CONFORMANCE', { payload: {} }), 'an envelope of a type that nobody knows');
    // If the server does not count the envelope, the next number leaves a gap for it. Accepting gaps has its own rule (W-10).
    const turn = await demandAlive(lab, call, 'an envelope of an unknown type', (control) => control.skipTo(control.seq + 2));
    if (turn.terminal === undefined) await call.hangUp();
  },
};
