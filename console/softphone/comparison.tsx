// Two calls of the same caller side by side: what each turn got, and how long it took.
import type { CallView, ShownTurn } from '../../src/dialog/call-view.ts';
import { AnswerBar } from '../call/answer-bar.tsx';
import { answerMs } from '../call/answer-parts.ts';
import { shownMs } from '../call/shown-time.ts';

export function Comparison({ before, now }: { readonly before: CallView; readonly now: CallView }) {
  const [old, current] = [answered(before), answered(now)];
  const wholeMs = Math.max(1, ...[...old, ...current].map(({ parts }) => (parts === undefined ? 0 : answerMs(parts))));
  return (
    <section class="comparison" aria-label="Same caller again">
      <table>
        <thead>
          <tr>
            <th scope="col">Caller</th>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.max(old.length, current.length) }, (_, index) => (
            <tr key={index}>
              <th scope="row">{didOf(old[index] ?? current[index])}</th>
              <Answered turn={old[index]} wholeMs={wholeMs} />
              <Answered turn={current[index]} wholeMs={wholeMs} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Answered({ turn, wholeMs }: { readonly turn: ShownTurn | undefined; readonly wholeMs: number }) {
  if (turn === undefined) return <td class="soft">no reply</td>;
  const { parts, prompts, next } = turn;
  return (
    <td>
      {parts !== undefined && (
        <>
          <AnswerBar parts={parts} wholeMs={wholeMs} /> {shownMs(answerMs(parts))}{' '}
        </>
      )}
      {prompts.map(({ text = '' }) => text).join(' ')}
      {next !== undefined && next.kind !== 'listen' && <span class="soft"> → {next.kind}</span>}
    </td>
  );
}

/** Turns with a reply of their own. */
function answered({ turns }: CallView): readonly ShownTurn[] {
  return turns.filter(({ prompts, next, input }) => prompts.length > 0 || (input !== undefined && REPLIES.has(next?.kind ?? '')));
}

const REPLIES: ReadonlySet<string> = new Set(['listen', 'transfer', 'end']);

function didOf(turn: ShownTurn | undefined): string {
  const { kind = '', text } = turn?.input ?? {};
  if (kind === 'speech') return text === undefined ? 'speech' : `“${text}”`;
  return `${kind.replaceAll('_', ' ')} ${text ?? ''}`.trim();
}
