// The figures of a load in conditions, tables and comparisons: times that callers waited, and counts with their
// totals. Knows results only.
import type { LoadResult } from './load-result.ts';

/** Times, in display order; an indented label is a part of the one above. `name` is the name in conditions. */
export const TIMES = [
  { name: 'first-audio', label: 'first audio', key: 'firstAudio' },
  { name: 'reply', label: 'reply', key: 'reply' },
  { name: 'speech-reply', label: '  to speech', key: 'speechReply' },
  { name: 'key-reply', label: '  to keys', key: 'keyReply' },
  { name: 'silence-reply', label: '  to silence', key: 'silenceReply' },
  { name: 'gap', label: 'gap in reply', key: 'gap' },
] as const;

/** A count, and its total. */
export interface Counted {
  readonly count: number;
  readonly of: number;
}

interface CountFigure {
  /** As in conditions. */
  readonly name: string;
  readonly label: string;
  readonly of: (result: LoadResult) => Counted;
}

/** Counts, in display order. */
export const COUNTS: readonly CountFigure[] = [
  { name: 'failed', label: 'failed calls', of: ({ calls }) => ({ count: calls.failed, of: calls.finished }) },
  { name: 'refused', label: 'refused calls', of: ({ calls }) => ({ count: calls.refused, of: calls.finished }) },
  { name: 'unheard', label: 'calls without a sound', of: ({ calls }) => ({ count: calls.unheard, of: calls.finished + calls.brokenOff }) },
  { name: 'failed-turns', label: 'failed turns', of: ({ turns }) => ({ count: turns.failed, of: turns.replies + turns.failed }) },
  { name: 'long-gaps', label: 'gaps > 100 ms', of: ({ gapsOver100Ms, gap }) => ({ count: gapsOver100Ms, of: gap.count }) },
  { name: 'wrong-sound', label: 'wrong or short sound', of: ({ sound }) => ({ count: sound.wrong + sound.short, of: sound.compared }) },
  {
    name: 'breaches',
    label: 'broken rules',
    of: ({ breaches, turns }) => ({
      count: Object.values(breaches).reduce((sum, each) => sum + each, 0),
      of: turns.replies + turns.failed,
    }),
  },
];
