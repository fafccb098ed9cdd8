// `npm run bench -- speech`: how well start and end of speech are found, and what it costs. Makes the corpus, lets a listener
// hear it, prints a table and one line of JSON; with --write the table of docs/speech.md is made anew.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadSignalEngines } from '../src/app/signal-engines.ts';
import { packageRoot } from '../src/base/package-root.ts';
import { command, progress, toggle } from './command-line.ts';
import { makeCorpus } from './speech-corpus.ts';
import { costs } from './speech-cost.ts';
import { score } from './speech-score.ts';
import { withMadePart } from './made-part.ts';
import { asMarkdown } from './speech-table.ts';
import { espeakVoices, fliteVoices } from './speech-voices.ts';

const help = `usage: npm run bench -- speech [--write]
Takes one to four minutes. The last line is JSON. Exit code 0: measured; 1: it could not be.

  --write   put the tables into docs/speech.md

espeak-ng (Debian: apt-get install espeak-ng) adds four voices where it is installed; the table names the voices it was made with.
example: npm run bench -- speech --write`;

await command({
  help,
  options: { write: toggle },
  run: async ({ write }) => {
    const voices = [...fliteVoices(), ...espeakVoices()];
    progress(`speaking and mixing the corpus with ${String(voices.length)} voices`);
    const lines = await makeCorpus(voices);
    const hours = lines.reduce((sum, { mulaw }) => sum + mulaw.length / 8000, 0) / 3600;
    progress(`listening to ${String(lines.length)} lines, ${hours.toFixed(1)} hours`);
    const engines = await loadSignalEngines();
    const rows = score(engines, lines);
    progress('measuring the cost');
    const spent = costs(engines, lines);
    const names = voices.map(({ name }) => name);
    const made = asMarkdown(rows, spent, names);
    console.log(made);
    if (write) {
      const page = path.join(packageRoot(), 'docs', 'speech.md');
      await writeFile(page, withMadePart(await readFile(page, 'utf8'), 'speech --write', made));
    }
    return {
      lines: lines.length,
      voices: voices.length,
      usPerFrame: Object.fromEntries(spent.map(({ row, detectorUs, listenerUs }) => [row, { detector: detectorUs, listener: listenerUs }])),
      rows: rows.map(({ startMs, endMs, ...counts }) => ({
        ...counts,
        startMs: startMs === undefined ? null : [startMs.half, startMs.most].map(Math.round),
        // JSON has no infinity: an end that never came is null.
        endMs: endMs === undefined ? null : [endMs.half, endMs.most].map((ms) => (ms === Infinity ? null : Math.round(ms))),
      })),
    };
  },
});
