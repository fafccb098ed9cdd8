// The server's own page on the operations port: calls, traffic, data sources, services and servers. Read only.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Overview, ShownVisitor } from '../src/ops/console-api.ts';
import { Calls } from './operations/calls.tsx';
import { OneCall } from './operations/one-call.tsx';
import { Organizations } from './operations/organizations.tsx';
import { ask, Refused, signOut, usePolled } from './operations/server-api.ts';
import { SignInForm } from './operations/sign-in.tsx';
import { DataSources, Servers, Services } from './operations/states.tsx';
import { Traffic } from './operations/traffic.tsx';
import './look.css';
import './operations.css';

const POLL_MS = 2000;
const TABS = {
  ...{
    calls: 'Calls',
    traffic: 'Traffic',
    organizations: 'Organizations',
    sources: 'Data sources',
    services: 'Services',
    servers: 'Servers',
  },
} as const;
type Tab = keyof typeof TABS;

/** The sign-in form, or the server to a visitor who is signed in. */
function Page() {
  const [visitor, setVisitor] = useState<ShownVisitor | Refused>();
  const look = (): void => {
    ask<ShownVisitor>('visitor').then(setVisitor, (thrown: unknown) => {
      setVisitor(thrown instanceof Refused ? thrown : new Refused(0, 'The answer is unreadable.'));
    });
  };
  useEffect(look, []);
  if (visitor === undefined) return null;
  if (visitor instanceof Refused) {
    if (visitor.status === 401) return <SignInForm onDone={look} />;
    return (
      <main class="sign-in">
        <h1>Parley</h1>
        <p role="alert">{visitor.message}</p>
        <button type="button" onClick={look}>
          Try again
        </button>
      </main>
    );
  }
  return <Operations visitor={visitor} onGone={look} />;
}

function Operations({ visitor, onGone }: { readonly visitor: ShownVisitor; readonly onGone: () => void }) {
  const [tab, call] = usePlace();
  const { answer: overview, refused } = usePolled<Overview>('overview', POLL_MS);
  useEffect(() => {
    if (refused?.status === 401) onGone();
  }, [refused]);
  const leave = async (): Promise<void> => {
    await signOut().catch(() => undefined);
    onGone();
  };
  const alarms = overview === undefined ? {} : alarmsOf(overview);
  return (
    <>
      <header class="top">
        <strong>Parley</strong>
        <nav aria-label="Views">
          {(Object.keys(TABS) as Tab[]).map((name) => (
            <a key={name} href={`#${name}`} aria-current={tab === name ? 'page' : undefined}>
              {TABS[name]}
              {alarms[name] !== undefined && (
                <span class="alarm" title={alarms[name]}>
                  <span aria-hidden="true">!</span>
                  <span class="unseen"> ({alarms[name]})</span>
                </span>
              )}
            </a>
          ))}
        </nav>
        <span class="visitor soft">
          {visitor.name}
          {visitor.role === 'listen' ? ' · may listen' : ''}
          {visitor.hasSession && (
            <button type="button" onClick={() => void leave()}>
              Sign out
            </button>
          )}
        </span>
      </header>
      {overview !== undefined && overview.silent.length > 0 && (
        <p class="notice" role="status">
          {overview.silent.length === 1 ? 'One server does' : `${String(overview.silent.length)} servers do`} not answer, and what is known
          there is missing: {overview.silent.map(({ address }) => address).join(', ')}
        </p>
      )}
      {refused !== undefined && (
        <p class="notice" role="alert">
          {refused.message} {overview !== undefined && `What is shown is from ${new Date(overview.nowMs).toLocaleTimeString()}.`}
        </p>
      )}
      <main>
        {call === undefined ? <h1 class="unseen">{TABS[tab]}</h1> : <OneCall key={call} id={call} />}
        {call === undefined && (overview === undefined ? <p class="soft">Asking the servers…</p> : <View tab={tab} overview={overview} />)}
      </main>
    </>
  );
}

function View({ tab, overview }: { readonly tab: Tab; readonly overview: Overview }) {
  if (tab === 'calls') return <Calls nowMs={overview.nowMs} />;
  if (tab === 'traffic') return <Traffic overview={overview} />;
  if (tab === 'organizations') return <Organizations />;
  if (tab === 'sources') return <DataSources overview={overview} />;
  if (tab === 'services') return <Services overview={overview} />;
  return <Servers overview={overview} />;
}

/** What a person should look at, by tab. */
function alarmsOf({ dataSources, services, silent, servers }: Overview): Partial<Record<Tab, string>> {
  const sources = dataSources.filter(({ isAlarming }) => isAlarming).length;
  const circuits = services.filter(({ circuit = 'closed' }) => circuit !== 'closed').length;
  const unwell = silent.length + servers.filter(({ isReady }) => !isReady).length;
  return {
    ...(sources > 0 && { sources: `${String(sources)} need a person` }),
    ...(circuits > 0 && { services: `${String(circuits)} with an open circuit` }),
    ...(unwell > 0 && { servers: `${String(unwell)} take no calls` }),
  };
}

/** The place in the address behind `#`: a tab, or `call/ID`. */
function usePlace(): readonly [Tab, string | undefined] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const call = /^#call\/(?<id>.+)$/u.exec(hash)?.groups?.['id'];
  const tab = (Object.keys(TABS) as Tab[]).find((name) => hash === `#${name}`) ?? 'calls';
  return [tab, call === undefined ? undefined : decoded(call)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const page = document.getElementById('page');
if (page !== null) render(<Page />, page);
