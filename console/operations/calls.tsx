// Calls now and lately, of all servers, and the search among them.
import { useState } from 'preact/hooks';
import type { CallSearch } from '../../src/dialog/call-view.ts';
import type { FoundCalls, ShownCallRow } from '../../src/ops/console-api.ts';
import { usePolled } from './server-api.ts';
import { clockTime, inWords, shortId, span } from './shown.ts';

const POLL_MS = 2000;
/** Rows that are drawn at first, and with each further wish. */
const PAGE_ROWS = 100;
const OUTCOMES = ['open', 'caller', 'bot_end', 'bot_transfer', 'failed', 'idle', 'too_long', 'shutdown', 'restarted', 'moved'] as const;

/** The fields of the form as they stand, by parameter. */
type Fields = { readonly [Key in keyof CallSearch]-?: string };
const NOTHING: Fields = { organizationId: '', conversationId: '', trackingId: '', end: '', fromMs: '', untilMs: '' };

export function Calls({ nowMs }: { readonly nowMs: number }) {
  const [fields, setFields] = useState(NOTHING);
  const [rows, setRows] = useState(PAGE_ROWS);
  const { answer, refused } = usePolled<FoundCalls>(`calls?${parametersOf(fields).toString()}`, POLL_MS);
  const change = (name: keyof Fields) => (event: { readonly currentTarget: { readonly value: string } }) => {
    setFields({ ...fields, [name]: event.currentTarget.value });
    setRows(PAGE_ROWS);
  };
  const calls = answer?.calls ?? [];
  const open = calls.filter(({ end }) => end === undefined).length;
  return (
    <>
      <form
        class="filters"
        role="search"
        aria-label="Calls"
        onSubmit={(event) => event.preventDefault()}
        onReset={() => setFields(NOTHING)}
      >
        <Field name="Organization" value={fields.organizationId} onInput={change('organizationId')} />
        <Field name="Call id" value={fields.conversationId} onInput={change('conversationId')} />
        <Field name="Tracking id" value={fields.trackingId} onInput={change('trackingId')} />
        <label>
          <span>Outcome</span>
          <select value={fields.end} onChange={change('end')}>
            <option value="">any</option>
            {OUTCOMES.map((end) => (
              <option key={end} value={end}>
                {end === 'open' ? 'goes on' : inWords(end)}
              </option>
            ))}
          </select>
        </label>
        <Field name="From" isTime value={fields.fromMs} onInput={change('fromMs')} />
        <Field name="Until" isTime value={fields.untilMs} onInput={change('untilMs')} />
        <button type="reset">Clear</button>
      </form>
      <p class="soft" role="status">
        {answer === undefined
          ? (refused?.message ?? 'Asking the servers…')
          : `${String(calls.length)} ${calls.length === 1 ? 'call' : 'calls'}, ${String(open)} of them now`}
        {answer !== undefined && refused !== undefined && ` – ${refused.message}`}
      </p>
      <div class="wide" tabIndex={0} role="region" aria-label="Found calls">
        <table>
          <thead>
            <tr>
              {['Began', 'Length', 'Bot', 'Outcome', 'Turns', 'Organization', 'Call', 'Server'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {calls.slice(0, rows).map((call) => (
              <CallRow key={`${call.conversationId} ${call.server}`} call={call} nowMs={nowMs} />
            ))}
          </tbody>
        </table>
        {answer !== undefined && calls.length === 0 && <p class="nothing soft">No call of the last ones is like this.</p>}
      </div>
      {calls.length > rows && (
        <button type="button" onClick={() => setRows(rows + PAGE_ROWS)}>
          Show more
        </button>
      )}
    </>
  );
}

function CallRow({ call, nowMs }: { readonly call: ShownCallRow; readonly nowMs: number }) {
  const { conversationId, organizationId, agentId, startedAtMs, end, durationMs, turns, server } = call;
  return (
    <tr>
      <td>
        <time dateTime={new Date(startedAtMs).toISOString()}>{clockTime(startedAtMs, nowMs)}</time>
      </td>
      <td class="number">{span(end === undefined ? nowMs - startedAtMs : durationMs)}</td>
      <td>{agentId}</td>
      <td class={end === 'failed' ? 'bad' : ''}>{end === undefined ? <b class="now">goes on</b> : inWords(end)}</td>
      <td class="number">{turns}</td>
      <td title={organizationId}>
        <code>{shortId(organizationId)}</code>
      </td>
      <td>
        <a href={`#call/${encodeURIComponent(conversationId)}`} title={conversationId}>
          <code>{conversationId}</code>
        </a>
      </td>
      <td title={server}>
        <code>{shortId(server)}</code>
      </td>
    </tr>
  );
}

interface FieldProps {
  readonly name: string;
  readonly value: string;
  readonly isTime?: boolean;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

function Field({ name, value, isTime = false, onInput }: FieldProps) {
  return (
    <label>
      <span>{name}</span>
      {isTime ? (
        <input type="datetime-local" value={value} onInput={onInput} />
      ) : (
        <input value={value} onInput={onInput} spellcheck={false} autocomplete="off" />
      )}
    </label>
  );
}

function parametersOf({ fromMs, untilMs, ...texts }: Fields): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, text] of Object.entries(texts)) if (text.trim() !== '') parameters.set(name, text.trim());
  for (const [name, local] of Object.entries({ fromMs, untilMs })) {
    const ms = new Date(local).getTime();
    if (!Number.isNaN(ms)) parameters.set(name, String(ms));
  }
  return parameters;
}
