// The page of one call that stands in the page itself: what `parley calls export --html` writes. Needs no network and no server.
import { render } from 'preact';
import type { CallView } from '../src/dialog/call-view.ts';

const data = document.getElementById('data')?.textContent ?? 'null';
const page = document.getElementById('page');
const view = JSON.parse(data) as CallView | null;
if (page !== null) render(<h1>{view?.call.agentId ?? 'No call'}</h1>, page);
