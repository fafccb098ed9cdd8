// The state of data sources, services and servers.
import type { Overview, ShownDataSource, ShownServer, ShownService } from '../../src/ops/console-api.ts';
import { clockTime, count, inWords, shortId, shownMs, span } from './shown.ts';
import { Table } from './table.tsx';

const MIB = 1_048_576;

export function DataSources({ overview: { dataSources, nowMs } }: { readonly overview: Overview }) {
  return (
    <Table
      name="Data sources"
      heads={['Organization', 'Transport', 'State', 'Token ends in', 'Renewed', 'Last good check', 'Id']}
      none="This server manages no data sources: admin.enabled is false, or no organization has authorized the app."
      rows={dataSources.map((source) => ({ key: `${source.organizationId} ${source.transport}`, cells: dataSourceCells(source, nowMs) }))}
    />
  );
}

function dataSourceCells(source: ShownDataSource, nowMs: number) {
  const { organizationId, transport, dataSourceId, isServed, isAlarming, expiresAtMs, renewedAtMs, checkedAtMs, error } = source;
  return [
    <code>{organizationId}</code>,
    transport,
    <>
      <State tone={isServed ? (isAlarming ? 'warn' : 'good') : 'bad'}>
        {isServed ? (isAlarming ? 'served, needs a person' : 'served') : 'calls cannot come in'}
      </State>
      {error !== undefined && <code class="bad"> {error}</code>}
    </>,
    expiresAtMs === undefined ? 'unknown' : expiresAtMs <= nowMs ? <b class="bad">has ended</b> : span(expiresAtMs - nowMs),
    renewedAtMs === undefined ? '–' : `${span(nowMs - renewedAtMs)} ago`,
    `${span(nowMs - checkedAtMs)} ago`,
    <code>{dataSourceId ?? '–'}</code>,
  ];
}

export function Services({ overview: { services } }: { readonly overview: Overview }) {
  return (
    <Table
      name="Services"
      heads={['Service', 'Circuit', 'Requests', 'Failed', 'Retried', 'Median', '95 of 100 within']}
      none="No service was used yet."
      rows={services.map((service) => ({ key: `${service.kind} ${service.name}`, cells: serviceCells(service) }))}
    />
  );
}

const CIRCUIT_TONES = { closed: 'good', half_open: 'warn', open: 'bad' } as const;

function serviceCells({ kind, name, circuit, requests, failed, retried, p50Ms, p95Ms }: ShownService) {
  const isSpeech = kind === 'speech';
  return [
    isSpeech ? (
      inWords(name)
    ) : (
      <>
        model <code>{name}</code>
      </>
    ),
    circuit === undefined ? '–' : <State tone={CIRCUIT_TONES[circuit]}>{inWords(circuit)}</State>,
    count(requests),
    isSpeech ? <span class={failed > 0 ? 'bad' : ''}>{count(failed)}</span> : '–',
    isSpeech ? count(retried) : '–',
    shownMs(p50Ms),
    shownMs(p95Ms),
  ];
}

export function Servers({ overview: { servers, silent, nowMs } }: { readonly overview: Overview }) {
  return (
    <Table
      name="Servers"
      heads={['Server', 'State', 'Calls', 'Turns', 'Loop delay', 'Memory', 'Heap', 'Runs for', 'Version', 'Address']}
      none="No server answers."
      rows={[
        ...servers.map((server) => ({ key: server.id, cells: serverCells(server, nowMs) })),
        ...silent.map(({ id, address, isDraining }) => ({
          key: id,
          cells: [
            <code title={id}>{shortId(id)}</code>,
            <State tone="bad">{isDraining ? 'drains, does not answer' : 'does not answer'}</State>,
            ...['–', '–', '–', '–', '–', '–', '–'],
            <code>{address}</code>,
          ],
        })),
      ]}
    />
  );
}

function serverCells(server: ShownServer, nowMs: number) {
  const { id, version, startedAtMs, address, isReady, reasons, openCalls, maxCalls, openTurns, loopDelayMs, rssBytes, heapPercent } =
    server;
  return [
    <code title={id}>{shortId(id)}</code>,
    <State tone={isReady ? 'good' : 'warn'}>{isReady ? 'takes calls' : reasons.map(inWords).join(', ')}</State>,
    <>
      {count(openCalls)} <span class="soft">of {count(maxCalls)}</span>
      <meter min={0} max={maxCalls} value={openCalls} aria-label="Calls" />
    </>,
    count(openTurns),
    `${String(Math.round(loopDelayMs))} ms`,
    `${count(Math.round(rssBytes / MIB))} MiB`,
    `${String(Math.round(heapPercent))} %`,
    <span title={`since ${clockTime(startedAtMs, nowMs)}`}>{span(nowMs - startedAtMs)}</span>,
    version,
    <code>{address}</code>,
  ];
}

/** A state in words, with a mark that is no colour alone. */
function State({ tone, children }: { readonly tone: 'good' | 'warn' | 'bad'; readonly children: string }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{tone === 'good' ? '●' : tone === 'warn' ? '▲' : '■'}</span> {children}
    </span>
  );
}
