// What call it is: bot, times, how it ended, and the ids to copy.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownCall } from '../../src/dialog/call-view.ts';
import { inWords, shownSeconds } from './shown-time.ts';

/** How long a button says that it has copied, ms. */
const COPIED_MS = 1500;
const TRANSPORTS = { grpc: 'gRPC', websocket: 'WebSocket' } as const;

export function CallHeader({ call }: { readonly call: ShownCall }) {
  const { conversationId, organizationId, agentId, botVersion, version, transport, startedAtMs, durationMs, end } = call;
  return (
    <header class="call-header">
      <h1>
        {agentId} <span class="end">{end === undefined ? 'goes on' : inWords(end)}</span>
      </h1>
      <dl>
        <Fact name="Began">
          <time dateTime={new Date(startedAtMs).toISOString()}>{new Date(startedAtMs).toLocaleString()}</time>
        </Fact>
        <Fact name="Length">{shownSeconds(durationMs)}</Fact>
        {transport !== undefined && <Fact name="Transport">{TRANSPORTS[transport]}</Fact>}
        {botVersion !== undefined && <Fact name="Bot version">{botVersion}</Fact>}
        {version !== undefined && <Fact name="Parley version">{version}</Fact>}
        <Fact name="Call">
          <Copied text={conversationId} what="id of the call" />
        </Fact>
        <Fact name="Organization">
          <Copied text={organizationId} what="id of the organization" />
        </Fact>
      </dl>
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt class="soft">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A text with a button that copies it. */
function Copied({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), COPIED_MS);
    } catch {
      // The browser does not let this page: the text can be marked.
    }
  };
  return (
    <span class="copied">
      <code>{text}</code>
      <button type="button" aria-label={`Copy the ${what}`} onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
