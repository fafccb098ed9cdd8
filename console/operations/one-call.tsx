// One call, asked for again while it goes on.
import type { CallView } from '../../src/dialog/call-view.ts';
import { Call } from '../call/call.tsx';
import { usePolled } from './server-api.ts';

const POLL_MS = 2000;

export function OneCall({ id }: { readonly id: string }) {
  const { answer, refused } = usePolled<CallView>(`calls/${encodeURIComponent(id)}`, POLL_MS, hasEnded);
  return (
    <>
      <p class="back">
        <a href="#calls">← All calls</a>
      </p>
      {answer === undefined && <p role="status">{refused === undefined ? 'Asking the servers…' : notThere(refused.status)}</p>}
      {answer !== undefined && <Call view={answer} />}
    </>
  );
}

function hasEnded({ call }: CallView): boolean {
  return call.end !== undefined;
}

function notThere(status: number): string {
  return status === 404 ? 'No server keeps this call: it is too long ago, or was never here.' : 'The server does not answer.';
}
