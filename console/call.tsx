// The page of one call that stands in the page itself: what `parley calls export --html` writes. Needs no network and no server.
import { render } from 'preact';
import type { CallView } from '../src/dialog/call-view.ts';
import { Call } from './call/call.tsx';
import './look.css';

const page = document.getElementById('page');
// Written by callPage alone.
const view = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as CallView | null;
if (page !== null && view !== null) {
  document.title = `${view.call.agentId}, call ${view.call.conversationId}`;
  render(
    <main>
      <Call view={view} />
    </main>,
    page,
  );
}
