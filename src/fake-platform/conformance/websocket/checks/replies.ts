// Checks of how replies and their sound are sent, and of the caller's audio while they are sent.
import { MAX_SOCKET_CALLER_AUDIO_BYTES, MAX_SOCKET_CHUNK_BYTES, MIN_SOCKET_CHUNK_BYTES } from '../../../../contract/limits.ts';
import { MULAW_BYTES_PER_MS } from '../../../../speech/audio-format.ts';
import { startsAsWav } from '../../../../speech/wav.ts';
import { isClosing } from '../../../caller/answer.ts';
import type { Runs } from '../../catalog.ts';
import { isNotice } from '../../heard.ts';
import { silenceOf } from '../../quiet-line.ts';
import { eachTurn, NOTHING, eachCall } from '../../shape-check.ts';
import { objectOf, objectsOf, type Message } from '../message.ts';
import { audioOf, type SocketTurn } from '../socket-call.ts';
import type { SocketLab } from '../socket-probe.ts';
import { demandAlive, eachMessage } from '../misdeeds.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;
const NO_SOUND = 'no answer carried sound';
const NO_REPLY = 'nothing was answered';

/** The audio of a message's prompts as received: base64 texts, including empty ones. */
function soundsIn({ json }: Message): readonly string[] {
  return objectsOf(objectOf(json?.['payload'])?.['prompts']).flatMap(({ audio_content_b64: sound }) =>
    typeof sound === 'string' ? [sound] : [],
  );
}

/** Number of CHUNKs with audio in a turn. */
function chunksOf({ answers }: SocketTurn): number {
  return answers.filter(({ answer }) => answer.type === 'chunk' && answer.prompts.some(({ audio }) => audio.length > 0)).length;
}

export const REPLY_CHECKS: Runs<SocketLab> = {
  'text-frames-sent': eachMessage('the server said nothing', ({ isBinary }) => (isBinary ? 'it came in a binary frame' : undefined)),
  'start-answered': async (lab) => {
    if (lab.suspect.wantsToken && lab.suspect.token === undefined) lab.skip('the server wants a token, and none was given');
    const call = lab.probe.call();
    const { final } = await call.begin();
    // Other checks report a rejected token (J-20) and a missing channel (W-01).
    if (call.socket.handshake?.kind === 'refused') lab.skip('the server refused the upgrade');
    if (final === undefined) lab.fail(`SESSION_START got no FINAL, and the socket ${call.socket.stateText}`);
    await call.hangUp();
  },
  'one-final-per-reply': eachTurn(NO_REPLY, (turn) => {
    const { answers } = turn;
    if (answers.every(({ answer }) => isNotice(answer))) return NOTHING;
    if (answers.some(({ answer }) => answer.type === 'partial')) return 'a PARTIAL came although no request allows it';
    const finals = answers.filter(({ answer }) => isClosing(answer));
    if (finals.length === 0) return chunksOf(turn) > 0 ? 'no FINAL came behind the CHUNKs' : NOTHING;
    if (finals.length > 1) return `${String(finals.length)} FINALs came`;
    const behind = answers.slice(answers.findIndex(({ answer }) => isClosing(answer)) + 1).filter(({ answer }) => !isNotice(answer));
    return behind.length === 0 ? undefined : `${String(behind.length)} answers came behind the FINAL`;
  }),
  'final-keeps-socket': eachCall(NO_REPLY, ({ turns, call: { socket } }) => {
    if (turns.every(({ final }) => final === undefined)) return NOTHING;
    const isOver = turns.some(({ kind, terminal }) => kind === 'session_end' || terminal !== undefined);
    // A last turn without an answer has another cause, and audio after a FINAL has its own rule (W-23).
    const isOther = turns.at(-1)?.isAnswered === false || turns.at(-1)?.kind === 'speech';
    if (isOver || isOther || socket.closing?.isByServer !== true) return undefined;
    return `the socket was closed with ${String(socket.closing.code)} behind a FINAL that does not end the call`;
  }),
  'final-has-one-prompt': eachTurn(NO_REPLY, (turn) => {
    const { final, terminal, kind } = turn;
    // The FINAL of an ended call does not continue, and an event of the flow needs no reply.
    if (final === undefined || terminal !== undefined || kind === 'session_end' || kind === 'custom_event') return NOTHING;
    const { prompts } = final.answer;
    if (prompts.length === 0) return 'a FINAL has no prompt';
    if (chunksOf(turn) === 0) return undefined;
    return prompts.length === 1 && prompts[0]?.audio.length === 0
      ? undefined
      : 'the FINAL behind CHUNKs has another prompt than one with empty sound';
  }),
  'utterances-delimited': eachTurn('no call was spoken to', (turn, call) => {
    const { kind, answers } = turn;
    if (kind !== 'speech') return NOTHING;
    const at = (event: string): readonly number[] => answers.flatMap(({ answer }, index) => (answer.event?.kind === event ? [index] : []));
    const [starts, ends] = [at('start_of_input'), at('end_of_input')];
    const reply = answers.findIndex(({ answer }) => !isNotice(answer));
    if (starts.length !== 1) {
      const isLater = call.turns.findIndex((each) => each.kind === 'speech') < call.turns.indexOf(turn);
      return `START_OF_INPUT came ${String(starts.length)} times for ${isLater ? 'an utterance that is not the first' : 'one utterance'}`;
    }
    if (ends.length !== 1) return `END_OF_INPUT came ${String(ends.length)} times for one utterance`;
    if ((ends[0] ?? 0) < (starts[0] ?? 0)) return 'END_OF_INPUT came before START_OF_INPUT';
    if (reply === -1) return 'no reply came behind END_OF_INPUT';
    return reply < (ends[0] ?? 0) ? 'the reply began before END_OF_INPUT' : undefined;
  }),
  'audio-flows-on': eachCall('no call was spoken to', ({ turns, call: { socket } }) => {
    const spoken = turns.find(({ kind }) => kind === 'speech');
    if (spoken === undefined) return NOTHING;
    const isOver = turns.some(({ kind, terminal }) => kind === 'session_end' || terminal !== undefined);
    return isOver || socket.closing?.isByServer !== true
      ? undefined
      : `the socket was closed with ${String(socket.closing.code)} while the caller’s audio went on`;
  }),
  'sound-is-raw-mulaw': eachMessage(NO_SOUND, (message) => {
    const sounds = soundsIn(message).filter((sound) => sound !== '');
    if (sounds.length === 0) return NOTHING;
    if (!sounds.every((sound) => BASE64.test(sound))) return 'its sound is no base64';
    return sounds.some((sound) => startsAsWav(Buffer.from(sound, 'base64'))) ? 'its sound begins with a WAV header' : undefined;
  }),
  'sound-in-legal-pieces': eachMessage(NO_SOUND, ({ answer }) => {
    const sizes = (answer?.prompts ?? []).map(({ audio }) => audio.length).filter((bytes) => bytes > 0);
    if (sizes.length === 0) return NOTHING;
    const wrong = sizes.find((bytes) => bytes < MIN_SOCKET_CHUNK_BYTES || bytes > MAX_SOCKET_CHUNK_BYTES);
    return wrong === undefined ? undefined : `a piece of sound has ${String(wrong)} bytes`;
  }),
  'large-audio-taken': async (lab) => {
    const call = await lab.ready();
    call.send(audioOf(silenceOf(MAX_SOCKET_CALLER_AUDIO_BYTES / MULAW_BYTES_PER_MS)));
    const turn = await demandAlive(lab, call, 'a message with 65,536 bytes of audio');
    if (turn.terminal === undefined) await call.hangUp();
    else await call.socket.close();
  },
};
