// One call: what it was, its sound, and everything that happened in it. Takes the view as data, of a call that is over or goes on.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CallView } from '../../src/dialog/call-view.ts';
import { CallHeader } from './call-header.tsx';
import { CallSound } from './call-sound.ts';
import { Ladder } from './ladder.tsx';
import { ROW_KINDS, rowsOf, type Row } from './ladder-rows.ts';
import { Player } from './player.tsx';
import { RowDetails } from './row-details.tsx';
import { shownNumber } from './shown-time.ts';
import { Waveform } from './waveform.tsx';
import { lengthOf } from './waveform-parts.ts';
import './call.css';

const CHOICES = { all: 'Everything', turn: 'Turns', message: 'Messages', event: 'Events', log: 'Log lines', problem: 'Problems' } as const;

export function Call({ view }: { readonly view: CallView }) {
  const { caller, bot } = view.sound;
  const sound = useMemo(() => new CallSound(view.sound), [caller?.href, bot?.href]);
  sound.durationMs = useMemo(() => lengthOf(view), [view]);
  useEffect(() => () => sound.close(), [sound]);
  const rows = useMemo(() => rowsOf(view), [view]);
  const [of, setOf] = useState<keyof typeof CHOICES>('all');
  const [words, setWords] = useState('');
  const shown = useMemo(() => rows.filter((row) => isShown(row, of, words.toLowerCase())), [rows, of, words]);
  const [chosen, setChosen] = useState<number>();
  const row = chosen === undefined ? undefined : rows[chosen];
  const problems = useMemo(() => rows.filter(({ isProblem }) => isProblem).length, [rows]);

  const choose = ({ index, atMs }: Row): void => {
    setChosen(index);
    sound.seek(atMs);
  };
  const seek = (atMs: number): void => {
    sound.seek(atMs);
    const there = shown.findLast((each) => each.atMs <= sound.atMs);
    if (there !== undefined) setChosen(there.index);
  };
  const kinds = ROW_KINDS.filter((kind) => rows.some((each) => each.kind === kind));
  return (
    <div class="call">
      <CallHeader call={view.call} />
      <section class="sound" aria-label="Sound">
        <Waveform view={view} sound={sound} chosen={row?.turn} onSeek={seek}>
          <Player sound={sound} goesOn={view.call.end === undefined} />
        </Waveform>
      </section>
      <div class="panes">
        <section aria-label="Ladder">
          <div class="filter">
            <label>
              <span class="unseen">Show </span>
              <select value={of} onChange={(event) => setOf(event.currentTarget.value as keyof typeof CHOICES)}>
                {(['all', ...kinds, 'problem'] as const).map((choice) => (
                  <option key={choice} value={choice}>
                    {CHOICES[choice]}
                    {choice === 'problem' && ` (${String(problems)})`}
                  </option>
                ))}
              </select>
            </label>
            <input
              type="search"
              aria-label="Find"
              placeholder="Find"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
            <span class="soft" role="status">
              {shownNumber(shown.length)} of {shownNumber(rows.length)}
            </span>
          </div>
          <Ladder rows={shown} chosen={chosen} onChoose={choose} />
        </section>
        <section class="details" aria-label="Details" tabIndex={0}>
          <RowDetails row={row} view={view} />
        </section>
      </div>
    </div>
  );
}

function isShown(row: Row, of: keyof typeof CHOICES, words: string): boolean {
  if (of === 'problem' ? !row.isProblem : of !== 'all' && row.kind !== of) return false;
  return words === '' || `${row.title} ${row.detail}`.toLowerCase().includes(words);
}
