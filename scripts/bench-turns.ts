// `npm run bench -- turns`: how long callers wait for an answer after their last sound, with a recognizer that hears while they speak and
// with one that takes whole utterances; and what it costs in utterances that are cut off.
import { loadSignalEngines } from '../src/app/signal-engines.ts';
import { command, number, progress } from './command-line.ts';
import { percentileFigure } from './bench/figures.ts';
import { makeCorpus } from './speech-corpus.ts';
import { espeakVoices, fliteVoices } from './speech-voices.ts';
import { answered } from './turns/answers.ts';
import { endsOf, ways } from './turns/pauses.ts';

/** From a pause to its words, ms, as the services of the calls take them. */
const RECOGNITION_MS = 150;
const HELP = `Calls an assistant in words, with services that take always the same time: 350 ms to the first token, 25 ms for each further one, 180 ms
to the first sound at the pace of speech, ${String(RECOGNITION_MS)} ms to the words of a pause. Then lets a listener hear the corpus of bench -- speech and counts
the utterances that end too soon, by silence alone and by words. Takes about three minutes.

  npm run bench -- turns
  npm run bench -- turns --calls 4      fewer calls (default 10) of five answers, each way

The last line is JSON: {"speechToAudioMs": {"words", "silence"}, "ends": [{"name", "utterances", "cut", "endMs"}]}; times are ms. The aims are 900
(p50) and 1,200 (p95) from the last sound of a caller to the first one of the answer, with no more utterances cut than by silence alone.
`;

const figures = (values: readonly number[]): { p50: number; p95: number } => ({
  p50: percentileFigure(values, 0.5),
  p95: percentileFigure(values, 0.95),
});

await command({
  help: HELP,
  options: { calls: number(10, 1) },
  run: async ({ calls }) => {
    progress('calling');
    // The first calls of a process meet cold code.
    await answered({ isStreamed: true, calls: 2, recognitionMs: RECOGNITION_MS });
    const words = await answered({ isStreamed: true, calls, recognitionMs: RECOGNITION_MS });
    const silence = await answered({ isStreamed: false, calls, recognitionMs: RECOGNITION_MS });
    progress('listening to the corpus');
    const engines = await loadSignalEngines();
    const lines = await makeCorpus([...fliteVoices(), ...espeakVoices()], { texts: Infinity, sounds: 0, ratiosDb: [20] });
    const ends = ways(RECOGNITION_MS).map((way) => {
      const { endMs, ...counts } = endsOf(engines, lines, way);
      return { ...counts, endMs: figures(endMs) };
    });
    for (const { name, utterances, cut, endMs } of ends)
      progress(
        `${name.padEnd(40)} cut ${String(cut).padStart(3)} of ${String(utterances)}   end p50 ${String(Math.round(endMs.p50))}, p95 ${String(Math.round(endMs.p95))} ms`,
      );
    return { answers: words.length + silence.length, speechToAudioMs: { words: figures(words), silence: figures(silence) }, ends };
  },
});
