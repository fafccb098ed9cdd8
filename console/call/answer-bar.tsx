// The time to an answer in its parts: as one small bar, or part by part with names.
import type { AnswerParts } from '../../src/dialog/call-view.ts';
import { answerMs, namedParts, partsInWords } from './answer-parts.ts';
import { shownMs } from './shown-time.ts';

/** A bar whose whole width is `wholeMs`. What it says stands beside it in words. */
export function AnswerBar({ parts, wholeMs }: { readonly parts: AnswerParts; readonly wholeMs: number }) {
  return (
    <span class="answer-bar" aria-hidden="true">
      {namedParts(parts).map(({ name, ms, isLongest }) => (
        <span key={name} class={isLongest ? 'longest' : ''} style={{ width: share(ms, wholeMs) }} />
      ))}
    </span>
  );
}

/** Every part with its name and length; the longest one is named in words. */
export function AnswerTable({ parts }: { readonly parts: AnswerParts }) {
  const wholeMs = answerMs(parts);
  return (
    <>
      <p>{capitalized(partsInWords(parts))}.</p>
      <table class="answer">
        <tbody>
          {namedParts(parts).map(({ name, fromMs, ms, isLongest }) => (
            <tr key={name} class={isLongest ? 'longest' : ''}>
              <th scope="row">{name}</th>
              <td>{shownMs(ms)}</td>
              <td class="part">
                <span style={{ marginLeft: share(fromMs, wholeMs), width: share(ms, wholeMs) }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function share(ms: number, wholeMs: number): string {
  return `${String((100 * ms) / Math.max(1, wholeMs))}%`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
