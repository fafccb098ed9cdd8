// Checks of how replies are sent: FINAL, CHUNK and PARTIAL, and the sound in them.
import { MAX_CHUNK_BYTES, MIN_CHUNK_BYTES } from '../../../contract/limits.ts';
import { readWavLayout, startsAsWav } from '../../../speech/wav.ts';
import { isClosing, type Answer, type AnswerPrompt } from '../../caller/answer.ts';
import type { Runs } from '../catalog.ts';
import { endingText, eventInput, type RpcTurn } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';
import { eachTurn, NOTHING, eachCall } from '../shape-check.ts';

/** Chunks with sound, in order. */
export function chunksOf({ rpc }: RpcTurn): readonly Answer[] {
  return rpc.answers.filter(({ type, prompts }) => type === 'chunk' && prompts.some(({ audio }) => audio.length > 0));
}

/** How the sound of a turn is sent; undefined when it has none. */
function modeOf(turn: RpcTurn): 'CHUNK' | 'WAV' | undefined {
  if (chunksOf(turn).length > 0) return 'CHUNK';
  return turn.rpc.answers.some(({ type, prompts }) => type === 'final' && prompts.some(({ audio }) => audio.length > 0))
    ? 'WAV'
    : undefined;
}

/** Inspects every prompt with sound in a response of this type. */
function eachSound(
  type: Answer['type'],
  otherwise: string,
  inspect: (prompt: AnswerPrompt, turn: RpcTurn) => string | undefined,
): (lab: RpcLab) => Promise<void> {
  return eachTurn(otherwise, (turn: RpcTurn) => {
    const sounds = turn.rpc.answers
      .filter((answer) => answer.type === type)
      .flatMap(({ prompts }) => prompts.filter(({ audio }) => audio.length > 0));
    if (sounds.length === 0) return NOTHING;
    return sounds.map((prompt) => inspect(prompt, turn)).find((said) => said !== undefined);
  });
}

/** Why a telephone cannot play a WAV; undefined when it can. */
function wavProblem(audio: Uint8Array): string | undefined {
  try {
    const { coding, sampleRateHz, channels } = readWavLayout(audio);
    const isPlayable = (coding === 'mulaw' || coding === 'pcm16') && (sampleRateHz === 8000 || sampleRateHz === 16_000) && channels === 1;
    return isPlayable ? undefined : `a WAV is ${coding}, ${String(sampleRateHz)} Hz, ${String(channels)} channels`;
  } catch {
    return 'a WAV cannot be read';
  }
}

const NO_CHUNKS = 'no CHUNK carried sound';
const NO_WAV = 'no FINAL carried sound';

export const REPLY_CHECKS: Runs<RpcLab> = {
  'rpc-completed-with-ok': eachTurn('no RPC was taken', (turn, { turns }) => {
    const { rpc } = turn;
    if (rpc.unreadable !== undefined) return 'a response cannot be read';
    if (rpc.isCompleted) return undefined;
    const end = turns.findIndex(({ terminal }) => terminal !== undefined);
    const isAfterEnd = end !== -1 && turns.indexOf(turn) > end;
    // A server may have forgotten a call that is over (G-75).
    if (isAfterEnd && rpc.final === undefined && rpc.ending !== undefined) return NOTHING;
    const behind = rpc.final === undefined ? '' : ' behind its FINAL';
    return `the RPC ${endingText(rpc.ending)}${behind}`;
  }),
  'one-final-and-nothing-after': eachTurn('no FINAL was seen', ({ rpc, kind }) => {
    const at = rpc.answers.findIndex(isClosing);
    // The platform's samples answer a hang-up with an empty response first, and may then name the end (G-75).
    if (at === -1 || kind === 'session_end') return NOTHING;
    const after = rpc.answers.length - 1 - at;
    return after === 0 ? undefined : `${String(after)} responses came after the closing FINAL`;
  }),
  'one-mode-per-call': eachCall('no call had sound on two turns', ({ turns }) => {
    const modes = turns.map(modeOf).filter((mode) => mode !== undefined);
    if (modes.length < 2) return NOTHING;
    return new Set(modes).size === 1 ? undefined : `the call began in ${modes[0] ?? ''} mode and did not keep to it`;
  }),
  'wav-has-header': eachSound('final', NO_WAV, ({ audio }, turn) =>
    // A FINAL with sound after chunks breaks another rule (G-43).
    startsAsWav(audio) || chunksOf(turn).length > 0 ? undefined : `${String(audio.length)} bytes of sound in a FINAL have no WAV header`,
  ),
  'chunk-size-and-form': eachTurn(NO_CHUNKS, (turn) => {
    const sounds = chunksOf(turn).map(({ prompts }) => prompts.flatMap(({ audio }) => (audio.length === 0 ? [] : [audio])));
    if (sounds.length === 0) return NOTHING;
    for (const [index, sound] of sounds.entries()) {
      for (const audio of sound) {
        if (startsAsWav(audio)) return 'a CHUNK begins with a WAV header';
        if (audio.length > MAX_CHUNK_BYTES) return `a CHUNK has ${String(audio.length)} bytes`;
        if (audio.length < MIN_CHUNK_BYTES && index < sounds.length - 1)
          return `a CHUNK that is not the last has ${String(audio.length)} bytes`;
      }
    }
    return undefined;
  }),
  'short-remainder-not-alone': eachTurn(NO_CHUNKS, (turn) => {
    const last = chunksOf(turn).at(-1);
    if (last === undefined) return NOTHING;
    const bytes = last.prompts.find(({ audio }) => audio.length > 0 && audio.length < MIN_CHUNK_BYTES)?.audio.length;
    return bytes === undefined ? undefined : `the last CHUNK has ${String(bytes)} bytes`;
  }),
  'stream-ends-with-empty-final': eachTurn(NO_CHUNKS, (turn) => {
    if (chunksOf(turn).length === 0) return NOTHING;
    const final = turn.rpc.final;
    if (final === undefined) return 'no FINAL came after the chunks';
    return final.answer.prompts.some(({ audio }) => audio.length > 0) ? 'the FINAL after the chunks carries sound' : undefined;
  }),
  'settings-only-on-final': eachTurn(NO_CHUNKS, ({ rpc }) => {
    const others = rpc.answers.filter(({ type }) => type !== 'final');
    if (others.length === 0) return NOTHING;
    return others.some(({ mode, config }) => mode !== undefined || config !== undefined)
      ? 'input settings stand on a response that is no FINAL'
      : undefined;
  }),
  'partial-only-where-allowed': eachTurn('nothing was answered', ({ rpc }) => {
    if (rpc.answers.length === 0) return NOTHING;
    return rpc.answers.some(({ type }) => type === 'partial') ? 'a PARTIAL came although the request does not allow it' : undefined;
  }),
  'partial-closes-nothing': async (lab) => {
    const call = lab.probe.call();
    const { final, endProblem } = await call.turn('session_start', { ...eventInput('SESSION_START'), allow_partial_responses: true });
    if (final === undefined) lab.fail(`no FINAL came, and the RPC ${endProblem ?? 'was completed'}`);
    await call.hangUp();
  },
  'uncancelled-partial-only': eachTurn('nothing was answered', ({ rpc }) => {
    if (rpc.answers.length === 0) return NOTHING;
    const misplaced = rpc.answers.find(({ type, playsOn }) => playsOn === true && type !== 'partial');
    return misplaced && `a ${misplaced.type.toUpperCase()} carries disable_prompt_cancellation`;
  }),
  'no-text-beside-chunks': eachSound('chunk', NO_CHUNKS, ({ text }) => (text === '' ? undefined : 'a CHUNK carries text beside its sound')),
  'wav-is-playable': eachSound('final', NO_WAV, ({ audio }) => (startsAsWav(audio) ? wavProblem(audio) : undefined)),
};
