// Everything about the row that is chosen, and about its turn.
import type { ComponentChildren } from 'preact';
import type { CallView, ShownError, ShownPrompt, ShownTurn } from '../../src/dialog/call-view.ts';
import { AnswerTable } from './answer-bar.tsx';
import { jsonDifference, type Json } from './json-difference.ts';
import { inputText, type Row } from './ladder-rows.ts';
import { inWords, shownMs, shownTime } from './shown-time.ts';
import './row-details.css';

/** Changes of a state that are shown. */
const MOST_CHANGES = 100;

export function RowDetails({ row, view }: { readonly row: Row | undefined; readonly view: CallView }) {
  if (row === undefined) return <p class="soft">Choose a row to see more of it.</p>;
  const turn = row.kind === 'turn' ? row.of : view.turns.find(({ number }) => number === row.turn);
  return (
    <>
      {row.kind !== 'turn' && <Happened row={row} />}
      {turn !== undefined && <TurnDetails turn={turn} logs={(view.logs ?? []).filter((log) => log.turn === turn.number)} />}
    </>
  );
}

function Happened({ row }: { readonly row: Exclude<Row, { readonly kind: 'turn' }> }) {
  const { kind, atMs, title, detail, from, to, of } = row;
  const findings = kind === 'message' ? (of.findings ?? []) : [];
  return (
    <section>
      <h2>
        {kind}: {title}
      </h2>
      <p class="soft">
        {shownTime(atMs)}, {from}
        {to !== undefined && ` to ${to}`}
      </p>
      {findings.length === 0 && detail !== '' && <p class="said">{detail}</p>}
      {findings.map(({ code, rule, message }) => (
        <p key={code} class="finding">
          <b class="bad">{rule ?? code}</b> {message}
          {rule !== undefined && <code class="soft"> {code}</code>}
        </p>
      ))}
    </section>
  );
}

function TurnDetails({ turn, logs }: { readonly turn: ShownTurn; readonly logs: NonNullable<CallView['logs']> }) {
  const { number, trackingId, atMs, input, interim = [], prompts, next, parts, bargeIn, state, error, end } = turn;
  return (
    <section>
      <h2>Turn {number}</h2>
      <p class="soft">
        {shownTime(atMs)}
        {end !== undefined && `, ${inWords(end)}`}
        {trackingId !== undefined && (
          <>
            , tracking id <code>{trackingId}</code>
          </>
        )}
      </p>
      {error !== undefined && <Thrown error={error} />}
      {parts !== undefined && (
        <Part title="Time to the answer">
          <AnswerTable parts={parts} />
        </Part>
      )}
      <Part title="Caller">
        {interim.map((words) => (
          <Timed key={words.atMs} atMs={words.atMs}>
            <span class="soft">{words.text}…</span>
          </Timed>
        ))}
        {input !== undefined && <Timed atMs={input.completeMs}>{inputText(turn)}</Timed>}
      </Part>
      {prompts.length > 0 && (
        <Part title="Bot">
          {prompts.map((prompt) => (
            <Timed key={prompt.startMs} atMs={prompt.startMs}>
              <PromptText prompt={prompt} />
            </Timed>
          ))}
        </Part>
      )}
      {bargeIn !== undefined && (
        <Part title={`Barge-in by ${inWords(bargeIn.by)}`}>
          <Timed atMs={bargeIn.atMs}>
            heard for {shownMs(bargeIn.heardMs)}
            {bargeIn.heard !== undefined && <>: “{bargeIn.heard}”</>}
          </Timed>
          {bargeIn.unheard !== undefined && bargeIn.unheard !== '' && (
            <p>
              not heard: <s class="soft">“{bargeIn.unheard}”</s>
            </p>
          )}
        </Part>
      )}
      {next !== undefined && (
        <Part title="Then">
          {inWords(next.kind)} {next.detail}
        </Part>
      )}
      {state !== undefined && (
        <Part title="State">
          <Changes changes={jsonDifference(state.before, state.after)} />
        </Part>
      )}
      {logs.length > 0 && (
        <Part title="Log">
          {logs.map(({ atMs: loggedMs, level, text }) => (
            <Timed key={`${String(loggedMs)}${text}`} atMs={loggedMs}>
              <b class={level === 'error' ? 'bad' : level === 'warn' ? 'warn' : 'soft'}>{level}</b> {text}
            </Timed>
          ))}
        </Part>
      )}
    </section>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="part-of-turn">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function Timed({ atMs, children }: { readonly atMs: number; readonly children: ComponentChildren }) {
  return (
    <p class="timed">
      <span class="soft">{shownTime(atMs)}</span>
      <span>{children}</span>
    </p>
  );
}

function PromptText({ prompt: { text, isWithheld, startMs, endMs, unheardMs, mayBeCut, isFiller } }: { readonly prompt: ShownPrompt }) {
  const length = unheardMs === undefined ? '' : ` of ${shownMs(endMs - startMs + unheardMs)} heard`;
  const facts = [`${shownMs(endMs - startMs)}${length}`, ...(mayBeCut ? [] : ['may not be cut']), ...(isFiller === true ? ['filler'] : [])];
  return (
    <>
      {isWithheld === true ? '(withheld)' : (text ?? '(sound)')} <span class="soft">{facts.join(', ')}</span>
    </>
  );
}

function Thrown({ error: { code, message, at } }: { readonly error: ShownError }) {
  return (
    <div class="thrown">
      <b class="bad">{inWords(code)}</b>
      <p>{message}</p>
      {at !== undefined && <code>{at}</code>}
    </div>
  );
}

function Changes({ changes }: { readonly changes: ReturnType<typeof jsonDifference> }) {
  if (changes.length === 0) return <p class="soft">The same as before.</p>;
  return (
    <>
      <ul class="changes">
        {changes.slice(0, MOST_CHANGES).map(({ path, before, after }) => (
          <li key={path}>
            <code>{path === '' ? 'state' : path}</code>
            {before !== undefined && <JsonText sign="−" word="before" json={before} />}
            {after !== undefined && <JsonText sign="+" word="after" json={after} />}
          </li>
        ))}
      </ul>
      {changes.length > MOST_CHANGES && <p class="soft">and {changes.length - MOST_CHANGES} more</p>}
    </>
  );
}

function JsonText({ sign, word, json }: { readonly sign: string; readonly word: string; readonly json: Json }) {
  return (
    <code class={word}>
      <span aria-hidden="true">{sign} </span>
      <span class="unseen">{word}: </span>
      {JSON.stringify(json)}
    </code>
  );
}
