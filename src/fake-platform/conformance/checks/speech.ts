// Checks of the forms in which the caller's voice may come, and of when the server may report speech.
import { VOICE_ENCODING } from '../../../contract/grpc.ts';
import { FRAME_MS, LINE_RATE_HZ, MULAW_BYTES_PER_MS } from '../../../speech/audio-format.ts';
import { decodeMulaw, MULAW_SILENCE } from '../../../speech/g711.ts';
import { mulawWav } from '../../../speech/wav.ts';
import { LEAD_MS } from '../call.ts';
import type { Runs } from '../catalog.ts';
import { isHeard, playMs } from '../heard.ts';
import { silenceOf } from '../quiet-line.ts';
import { eventInput, MULAW_FORMAT, SILENCE, type Input, type SpokenForm } from '../rpc-call.ts';
import type { RpcLab, RpcRecord } from '../rpc-probe.ts';
import { noiseNotAnnounced } from './shared-inputs.ts';

/** Size of the tiny packets that the platform sends before the first audio, bytes (G-33). */
const TINY_BYTES = 3;
/** The largest piece that counts as a probe, bytes (G-34). */
const PROBE_BYTES = 14;
/** Number of such pieces: 350 ms of speech. */
const MAX_PROBES = 200;
/** An uninterruptible welcome shorter than this proves nothing, ms. */
const MIN_WELCOME_MS = 1000;
/** Part of such a welcome in which no speech may be reported. Not all of it: neither side knows exactly when the welcome ends. */
const WATCHED_PART = 0.6;
const WIDE_HZ = 16_000;
/** How long to wait for a wrong report of speech, ms. */
const LATE_ANSWER_MS = 500;

/** Speech as 16-bit PCM. At 16 kHz each sample is doubled, which still sounds like speech. */
function linear16(mulaw: Uint8Array, rateHz: number): SpokenForm {
  const repeat = rateHz / LINE_RATE_HZ;
  const samples = decodeMulaw(mulaw);
  const bytes = Buffer.alloc(samples.length * repeat * 2);
  for (let index = 0; index < samples.length * repeat; index += 1) bytes.writeInt16LE(samples[Math.floor(index / repeat)] ?? 0, index * 2);
  const frameBytes = (rateHz / 1000) * FRAME_MS * 2;
  const frames = Array.from({ length: Math.ceil(bytes.length / frameBytes) }, (_, index) => ({
    audio_input: { caller_audio: bytes.subarray(index * frameBytes, (index + 1) * frameBytes) },
  }));
  return {
    before: [{ audio_input: { encoding: VOICE_ENCODING.LINEAR16_FORMAT, sample_rate_hertz: rateHz } }],
    frames,
    silence: { audio_input: { caller_audio: new Uint8Array(frameBytes) } },
  };
}

/** Speech as a WAV file in one message, with silence before it. */
function wavFile(mulaw: Uint8Array): SpokenForm {
  const lead = new Uint8Array(LEAD_MS * MULAW_BYTES_PER_MS).fill(MULAW_SILENCE);
  return { before: [{ audio_input: { caller_audio: mulawWav(Buffer.concat([lead, mulaw])) } }], frames: [], silence: SILENCE };
}

/** The server hears speech in another form, which the platform's samples accept, too. */
function heardAs(words: string, formOf: (mulaw: Uint8Array) => SpokenForm): (lab: RpcLab) => Promise<void> {
  return async (lab) => {
    await lab.demandHeard();
    const call = await lab.ready();
    const turn = await call.speak(formOf(lab.speech));
    if (!turn.hasStart) lab.fail(`speech as ${words} got no START_OF_INPUT, and plain speech did`);
    await call.hangUp();
  };
}

/** An agent whose welcome may not be interrupted and is long enough. Without one, the check does not apply. */
async function uncuttable(lab: RpcLab): Promise<{ readonly agentId: string; readonly ms: number }> {
  const lengthOf = ({ turns }: RpcRecord): number => {
    const prompts = turns[0]?.rpc.answers.flatMap((answer) => answer.prompts.filter(isHeard)) ?? [];
    return prompts.some(({ bargeIn }) => bargeIn) ? 0 : prompts.reduce((ms, prompt) => ms + playMs(prompt), 0);
  };
  const found = (await lab.welcomes())
    .map((record) => ({ agentId: record.agentId, ms: lengthOf(record) }))
    .find(({ ms }) => ms >= MIN_WELCOME_MS);
  return found ?? lab.skip('no agent on the list has a welcome of a second that may not be cut');
}

export const SPEECH_CHECKS: Runs<RpcLab> = {
  'speech-as-linear16-8k': heardAs('16-bit PCM at 8 kHz', (mulaw) => linear16(mulaw, LINE_RATE_HZ)),
  'speech-as-linear16-16k': heardAs('16-bit PCM at 16 kHz', (mulaw) => linear16(mulaw, WIDE_HZ)),
  'speech-as-wav': heardAs('a WAV file', wavFile),
  'format-remembered': async (lab) => {
    const form = linear16(lab.speech, WIDE_HZ);
    const call = await lab.ready();
    const named = await call.speak(form);
    if (!named.hasStart) lab.skip('speech as 16-bit PCM at 16 kHz is not heard even where it is named');
    if (named.terminal !== undefined) lab.skip('the bot ends the call after the first words');
    await call.heardOut(named);
    const quiet = await call.turn('speech', ...Array<Input>(50).fill(form.silence));
    if (quiet.hasStart) {
      await call.heardOut(quiet);
      const control = await call.turn('speech', ...form.before, ...Array<Input>(50).fill(form.silence));
      if (control.hasStart) lab.skip('silence is announced as speech also where its format is named');
      lab.fail('START_OF_INPUT came upon silence in the format of an earlier RPC, and with its format it did not');
    }
    if (quiet.terminal !== undefined) lab.skip('the bot ends the call after silence');
    await call.heardOut(quiet);
    const unnamed = await call.speak({ ...form, before: [] });
    if (!unnamed.hasStart) {
      await call.heardOut(unnamed);
      const control = await call.speak(form);
      if (!control.hasStart) lab.skip('later speech is not announced also where its format is named');
      lab.fail('speech in the format of an earlier RPC got no START_OF_INPUT, and with its format it did');
    }
    await call.hangUp();
  },
  'tiny-packets-taken': async (lab) => {
    const call = await lab.ready();
    const tiny = { audio_input: { caller_audio: new Uint8Array(TINY_BYTES).fill(MULAW_SILENCE) } };
    const { hasStart, endProblem, terminal } = await call.turn('speech', MULAW_FORMAT, tiny, tiny, tiny, SILENCE);
    if (hasStart || endProblem !== undefined) {
      const control = await (await lab.ready()).turn('speech', MULAW_FORMAT, SILENCE);
      if (hasStart) {
        if (control.hasStart) lab.skip('a frame of silence alone is announced as speech, too');
        lab.fail(`START_OF_INPUT came upon packets of ${String(TINY_BYTES)} silent bytes, and not upon a frame of silence alone`);
      }
      if (control.endProblem !== undefined) lab.skip(`an RPC with a frame of silence alone ${control.endProblem}, too`);
      lab.fail(`the RPC that began with packets of ${String(TINY_BYTES)} bytes ${endProblem ?? ''}, and one with silence alone did not`);
    }
    if (terminal === undefined) await call.hangUp();
  },
  'only-speech-announced': noiseNotAnnounced,
  'probes-are-no-speech': async (lab) => {
    await lab.demandHeard();
    const call = await lab.ready();
    // The middle of the speech, where it is loud. Not all of it, because more small messages would be delayed on the way.
    const middle = Math.max(0, Math.floor((lab.speech.length - MAX_PROBES * PROBE_BYTES) / 2));
    const speech = lab.speech.subarray(middle, middle + MAX_PROBES * PROBE_BYTES);
    const probes = Array.from({ length: Math.ceil(speech.length / PROBE_BYTES) }, (_, index) => ({
      audio_input: { caller_audio: speech.subarray(index * PROBE_BYTES, (index + 1) * PROBE_BYTES) },
    }));
    const turn = call.start('speech', MULAW_FORMAT, ...probes);
    await call.until(turn, () => turn.hasStart || turn.hasPrompt, LATE_ANSWER_MS);
    // When the RPC is closed without speech, a bot may ask again; a prompt before that shows that the bot has heard something.
    const isAnswered = turn.hasPrompt;
    await call.closeTurns(turn);
    const came = turn.hasStart ? 'START_OF_INPUT' : isAnswered ? 'a prompt' : undefined;
    if (came !== undefined) lab.fail(`${came} came upon speech in pieces of ${String(PROBE_BYTES)} bytes`);
    const broken = turn.endProblem;
    // The server may not be the cause: on a busy machine, so many small messages can be delayed until the RPC is cancelled.
    if (broken !== undefined && !turn.isOver) lab.giveUp(`the RPC of pieces of ${String(PROBE_BYTES)} bytes ${broken}`);
    if (broken !== undefined) lab.fail(`the RPC of pieces of ${String(PROBE_BYTES)} bytes ${broken}`);
    await call.hangUp();
  },
  'start-waits-for-uncuttable-prompt': async (lab) => {
    const { agentId, ms } = await uncuttable(lab);
    const { clock, timing } = lab.suspect;
    const call = lab.probe.call({ agentId });
    const welcome = call.start('session_start', eventInput('SESSION_START'));
    welcome.rpc.halfClose();
    await call.until(welcome, () => welcome.final !== undefined, timing.answerMs);
    const playedFromMs = welcome.answers[0]?.atMs ?? lab.skip('the welcome did not come');
    const untilMs = playedFromMs + ms * WATCHED_PART;
    const turn = call.listen();
    await call.stream(turn, Buffer.concat([lab.speech, silenceOf(ms * timing.pace)]), () => turn.hasStart || clock.monotonicMs() > untilMs);
    turn.rpc.cancel();
    if ((turn.start?.atMs ?? untilMs) < untilMs) lab.fail('START_OF_INPUT came while a prompt played that may not be cut');
    await call.hangUp();
  },
};
