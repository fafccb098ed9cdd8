// For each alert of deploy/prometheus/alerts.yaml: a fault that must fire it, and something similar that must not. Values are written as
// promtool reads them: `0+6x20 120x40` begins at 0, rises by 6 in each of 20 minutes, and stays at 120 for another 40. Knows no file.

/** Series by name, each with its values of every minute. */
export type Series = Readonly<Record<string, string>>;

/** One alert of one severity. */
export interface AlertCase {
  readonly alert: string;
  readonly severity: 'critical' | 'warning';
  /** What fires it. */
  readonly fault: Series;
  /** What does not. */
  readonly calm: Series;
  /** Minutes from the beginning: still silent, firing, and over. */
  readonly silent: number;
  readonly firing: number;
  readonly over: number;
}

const STARTED = 'parley_sessions_started_total{job="parley",instance="a",bot="desk"}';
const ACCEPTED = 'parley_tokens_accepted_total{job="parley",instance="a",check="verified"}';
const refused = (reason: string): string => `parley_calls_refused_total{job="parley",instance="a",reason="${reason}"}`;
const foreign = (reason: string): string => `parley_tokens_refused_total{job="parley",instance="a",reason="${reason}"}`;

/** For ten minutes something is counted every minute; the alert comes after five, and goes five after the last one. */
const RISING = { silent: 3, firing: 10, over: 18 } as const;
const AGAIN_AND_AGAIN = '0+1x10 10x30';
/** Counted once. */
const ONCE = '0x3 1x40';

function rising(alert: string, series: string, calm: Series = { [series]: ONCE }): AlertCase {
  return { alert, severity: 'warning', fault: { [series]: AGAIN_AND_AGAIN }, calm, ...RISING };
}

/** A gauge that has the bad value from minute 5 on, and the good one from minute 30 on. */
function state(alert: string, severity: AlertCase['severity'], series: string, [good, bad]: readonly [string, string]): AlertCase {
  const fault = { [series]: `${good}x4 ${bad}x24 ${good}x30` };
  return { alert, severity, fault, calm: { [series]: `${good}x60` }, silent: 4, firing: 25, over: 40 };
}

/** How many first sounds came within a second, and within any time; with the calls that make it matter. */
function sounds(name: string, intime: string, all: string): Series {
  const of = (le: string): string => `parley_${name}_latency_seconds_bucket{job="parley",instance="a",bot="desk",le="${le}"}`;
  return {
    [of('1')]: intime,
    [of('+Inf')]: all,
    [`parley_${name}_latency_seconds_count{job="parley",instance="a",bot="desk"}`]: all,
    [STARTED]: '0+10x90',
    [refused('total')]: '0x90',
  };
}

function firstToken(intime: string, all: string): Series {
  const of = (le: string): string => `parley_ai_first_token_seconds_bucket{job="parley",instance="a",model="m",le="${le}"}`;
  return { [of('1')]: intime, [of('2')]: all, [of('+Inf')]: all };
}

const BEATS = 'parley_store_operation_seconds_count{job="parley",instance="a",operation="beat"}';
const WEBHOOK = 'parley_webhook_registered{job="parley",instance="a",event="authorized"}';
const REGISTRATIONS = 'parley_webhook_registrations_total{job="parley",instance="a",event="authorized",outcome="failed"}';
const FAILURES = 'parley_authorization_failures_total{job="parley",instance="a",event="authorized"}';
const renewing = (owners: string): Series => ({
  'parley_admin_owner{job="parley",instance="a"}': owners,
  'parley_data_sources{job="parley",instance="a",transport="grpc",served="yes"}': '1x60',
});

export const ALERT_CASES: readonly AlertCase[] = [
  // A tenth of the calls is refused for half an hour, because servers are nearly full; then a hundredth. A server that stops, limits of an
  // organization, and one call in a quiet night are no outage.
  {
    ...{ alert: 'ParleyCallsUnanswered', severity: 'critical', silent: 0, firing: 30, over: 45 },
    fault: { [STARTED]: '0+9x60', [refused('organization_share')]: '0+1x30 30x30' },
    calm: {
      ...{ [STARTED]: '0+9x60', [refused('draining')]: '0+1x30 30x30', [refused('total')]: '0x60' },
      ...{ [refused('organization')]: '0+1x60', [refused('organization_rate')]: '0+1x60' },
    },
  },
  {
    ...{ alert: 'ParleyCallsUnanswered', severity: 'warning', silent: 0, firing: 30, over: 70 },
    fault: { [STARTED]: '0+99x90', [refused('total')]: '0+1x30 30x60' },
    calm: { [STARTED]: '0x10 1x10 2x60', [refused('total')]: '0x20 1x60' },
  },
  {
    ...{ alert: 'ParleyCallersTurnedAway', severity: 'critical', silent: 0, firing: 30, over: 45 },
    fault: { [ACCEPTED]: '0+9x60', [foreign('nonce_mismatch')]: '0+1x30 30x30' },
    calm: { [ACCEPTED]: '0+9x60', [foreign('bad_signature')]: '0+100x60' },
  },
  {
    ...{ alert: 'ParleyCallersTurnedAway', severity: 'warning', silent: 0, firing: 30, over: 70 },
    fault: { [ACCEPTED]: '0+99x90', [foreign('expired')]: '0+1x30 30x60' },
    calm: { [ACCEPTED]: '0+999x90', [foreign('expired')]: '0+1x30 30x60' },
  },
  {
    ...{ alert: 'ParleyFirstSoundLate', severity: 'critical', silent: 0, firing: 30, over: 45 },
    fault: sounds('reply', '0+5x30 160+10x60', '0+10x90'),
    calm: sounds('reply', '0+8x90', '0+10x90'),
  },
  {
    ...{ alert: 'ParleyFirstSoundLate', severity: 'warning', silent: 0, firing: 30, over: 70 },
    fault: sounds('speech', '0+8x30 250+10x60', '0+10x90'),
    calm: sounds('speech', '0+96x90', '0+100x90'),
  },
  state('ParleyNotReady', 'warning', 'parley_ready{job="parley",instance="a"}', ['1', '0']),
  { ...state('ParleyDown', 'critical', 'up{job="parley",instance="a"}', ['1', '0']) },
  rising('ParleyCallsRefused', refused('memory'), { [refused('draining')]: AGAIN_AND_AGAIN }),
  {
    ...{ alert: 'ParleyNearlyFull', severity: 'warning', silent: 4, firing: 25, over: 40 },
    fault: {
      'parley_sessions_open{job="parley",instance="a",bot="desk"}': '100x4 300x24 100x30',
      'parley_sessions_open{job="parley",instance="a",bot="echo"}': '110x60',
      'parley_sessions_limit{job="parley",instance="a"}': '500x60',
    },
    calm: {
      'parley_sessions_open{job="parley",instance="a",bot="desk"}': '390x60',
      'parley_sessions_limit{job="parley",instance="a"}': '500x60',
    },
  },
  rising('ParleyTokensRefused', foreign('keys_unavailable'), { [foreign('malformed')]: AGAIN_AND_AGAIN }),
  rising('ParleyStreamsFail', 'parley_streams_refused_total{job="parley",code="slow_reader",transport="grpc"}', {
    'parley_streams_refused_total{job="parley",code="unauthenticated",transport="grpc"}': AGAIN_AND_AGAIN,
  }),
  rising('ParleyBotFails', 'parley_bot_failures_total{job="parley",bot="desk",code="bot_failed"}'),
  rising('ParleyPromptsFail', 'parley_prompts_failed_total{job="parley",kind="text",code="synthesis_failed"}'),
  rising('ParleyRecordingsLost', 'parley_recordings_lost_total{job="parley",reason="disk"}'),
  {
    ...{ alert: 'ParleySpeechCircuitOpen', severity: 'critical', silent: 4, firing: 25, over: 40 },
    // Every other minute it is tried.
    fault: {
      'parley_speech_circuit_state{job="parley",instance="a",service="synthesizer",state="open"}': '0x4 1 0 1 0 1 0 1 0 1 0 1x15 0x30',
    },
    calm: { 'parley_speech_circuit_state{job="parley",instance="a",service="synthesizer",state="closed"}': '1x60' },
  },
  rising('ParleyModelFails', 'parley_ai_failures_total{job="parley",why="late"}'),
  {
    ...{ alert: 'ParleyModelSlow', severity: 'warning', silent: 5, firing: 25, over: 40 },
    fault: firstToken('0+5x25 125+10x35', '0+10x60'),
    calm: firstToken('0+96x60', '0+100x60'),
  },
  state('ParleyRenewalLate', 'warning', 'parley_data_sources_alarming{job="parley",transport="grpc"}', ['0', '1']),
  {
    ...{ alert: 'ParleyTokenEnds', severity: 'critical', silent: 25, firing: 50, over: 70 },
    // Tokens end after an hour, and are renewed at last; the calm ones in time.
    fault: { 'parley_data_source_token_expiry_seconds{job="parley",transport="grpc"}': '3600-60x55 86400-60x60' },
    calm: { 'parley_data_source_token_expiry_seconds{job="parley",transport="grpc"}': '5500-60x60 86400-60x60' },
  },
  state('ParleyLoginRefused', 'critical', 'parley_integration_login{job="parley",instance="a"}', ['1', '0']),
  {
    ...{ alert: 'ParleyNobodyRenews', severity: 'critical', silent: 4, firing: 25, over: 40 },
    fault: { ...renewing('1x4 0x24 1x30'), [BEATS]: '0+80x60' },
    // Two servers that share nothing.
    calm: renewing('2x60'),
  },
  {
    ...{ alert: 'ParleyWebhookMissing', severity: 'warning', silent: 4, firing: 25, over: 40 },
    fault: { [WEBHOOK]: '1x4 0x24 1x30', [REGISTRATIONS]: '1x60' },
    calm: { [WEBHOOK]: '0x60', [REGISTRATIONS]: '0x60' },
  },
  {
    ...{ alert: 'ParleyAuthorizationFails', severity: 'warning', silent: 30, firing: 90, over: 130 },
    fault: { [FAILURES]: '0+1x90 90x60' },
    // An outage.
    calm: { [FAILURES]: '0+1x20 20x120' },
  },
  state('ParleyAdminStoreReadOnly', 'critical', 'parley_admin_store_writable{job="parley",instance="a"}', ['1', '0']),
  state('ParleyFileRefused', 'warning', 'parley_watched_files_taken{job="parley",instance="a",what="certificate"}', ['1', '0']),
  {
    ...{ alert: 'ParleyCertificateEnds', severity: 'warning', silent: 30, firing: 70, over: 90 },
    fault: { 'parley_certificate_end_timestamp_seconds{job="parley",instance="a"}': '1200000x80 9000000x30' },
    calm: { 'parley_certificate_end_timestamp_seconds{job="parley",instance="a"}': '1300000x120' },
  },
  {
    ...{ alert: 'ParleyCertificateEnds', severity: 'critical', silent: 0, firing: 10, over: 40 },
    fault: { 'parley_certificate_end_timestamp_seconds{job="parley",instance="a"}': '173000x30 9000000x30' },
    calm: { 'parley_certificate_end_timestamp_seconds{job="parley",instance="a"}': '200000x60' },
  },
  state('ParleyStoreDown', 'critical', 'parley_store_up{job="parley",instance="a"}', ['1', '0']),
  rising('ParleyForwardingFails', 'parley_forwarded_streams_total{job="parley",instance="a",outcome="failed"}', {
    'parley_forwarded_streams_total{job="parley",instance="a",outcome="taken_over"}': AGAIN_AND_AGAIN,
  }),
  rising('ParleyWorkersEnd', 'parley_workers_ended_total{job="parley",instance="a"}'),
];
