// What tests of other programs import: `import { startPlatform } from 'parley-voice/platform'`. Connects the fake platform with a
// voice for its callers.
import path from 'node:path';
import type { WrittenSettings } from '../app/config/given-settings.ts';
import { readBounded } from '../base/terminal/surroundings.ts';
import { placeCall, type CallOptions, type CallResult } from '../fake-platform/caller/caller.ts';
import type { CallerVoice } from '../fake-platform/cli/call-access.ts';
import { startPlatform as startBoth } from '../fake-platform/cli/platform/start-platform.ts';
import { readyTests } from '../fake-platform/cli/scenarios/scenario-files.ts';
import { parseTarget, type Transport } from '../fake-platform/lines/target.ts';
import { announceWords } from '../fake-platform/models/announce.ts';
import type { AdminApi } from '../fake-platform/platform/admin-api.ts';
import type { Issuer } from '../fake-platform/platform/issuer.ts';
import { loadProfile } from '../fake-platform/platform/profile.ts';
import { planTests } from '../fake-platform/scenario/plan.ts';
import { checkScenario } from '../fake-platform/scenario/read.ts';
import { callOptionsOf } from '../fake-platform/scenario/run.ts';
import type { ScenarioTest } from '../fake-platform/scenario/schema.ts';
import { failuresOf, type TestFailure } from '../fake-platform/scenario/verdict.ts';
import { callerVoice } from './caller-voice.ts';

export { fakeModels, type FakeModels, type FakeModelsOptions, type ModelRequestEntry } from '../fake-platform/models/start-models.ts';
export { readModelScript, type ModelScript } from '../fake-platform/models/script.ts';
export type { CallResult } from '../fake-platform/caller/caller.ts';
export type { AdminApi } from '../fake-platform/platform/admin-api.ts';
export type { Issuer, TokenClaims } from '../fake-platform/platform/issuer.ts';
export type { ScenarioStep, ScenarioTest } from '../fake-platform/scenario/schema.ts';
export type { TestFailure } from '../fake-platform/scenario/verdict.ts';

/** What a caller does, and what the server must do: a test of a scenario file (docs/scenarios.md). */
export type Scenario = Omit<ScenarioTest, 'name' | 'without_defaults'>;

/** How the server is called. */
export interface CallAccess extends Pick<
  CallOptions,
  'conversationId' | 'certificateAuthority' | 'serverName' | 'signal' | 'onEvent' | 'keepsSound'
> {
  /** Default: the organization of the issuer. */
  readonly organizationId?: string;
  /** Default: a fresh token that a server with {@link TestPlatform.trust} accepts. Null: the call carries no token. */
  readonly token?: string | null;
  /** {@link FakeModels.url} of fake models: the caller's words are announced to them, so that their recognizer understands the caller. */
  readonly models?: string;
}

/** The result of a call, and the expectations of its scenario that were not met. */
export interface ScenarioResult extends CallResult {
  readonly conversationId: string;
  /** Empty when the call went as expected; then `ok` is true. */
  readonly failures: readonly TestFailure[];
}

/** A running fake platform. `close` must be called. */
export interface TestPlatform {
  /** Signs valid and forged tokens, and serves the public keys. */
  readonly issuer: Issuer;
  /** The platform's administration API, with its state and its switches for failures. */
  readonly admin: AdminApi;
  /** Settings of a server that accepts the calls of this platform, over gRPC and over WebSocket. */
  readonly trust: WrittenSettings;
  /**
   * Places a call and waits for its end, which comes within the limits of the scenario.
   * @param target - `grpc://HOST:PORT`, `grpcs://`, `ws://` or `wss://`: `address` of a server from `createServer`.
   * @throws RangeError for an invalid target or scenario; AppError `synthesis_failed` when the caller's speech cannot be synthesized.
   */
  call(target: string, scenario?: Scenario, access?: CallAccess): Promise<ScenarioResult>;
  close(): Promise<void>;
}

/** Options of {@link startPlatform}. */
export interface TestPlatformOptions {
  /** Where browsers return after a login of the integration. The server's `admin.integration.redirect_uri` must be the same. */
  readonly redirectUri?: string;
}

/** Starts a platform on free ports of loopback. @throws AppError `listen_failed`. */
export async function startPlatform({ redirectUri = 'http://127.0.0.1:8765/callback' }: TestPlatformOptions = {}): Promise<TestPlatform> {
  const both = await startBoth({ port: 0, redirectUri });
  const { api, issuer } = both;
  let voice: Promise<CallerVoice> | undefined;
  return {
    issuer,
    admin: api,
    trust: trustIn(issuer),
    call: async (target, scenario = {}, access = {}) => {
      voice ??= callerVoice();
      return held(target, scenario, access, { issuer, voice: await voice });
    },
    close: async () => {
      await (await voice)?.close();
      await both.close();
    },
  };
}

/** The claims of tokens for one transport. Each transport has its own data source (W-03). */
function claimsFor({ claims }: Issuer, transport: Transport) {
  const schemaId = loadProfile('fake').schemas[transport];
  const url = transport === 'grpc' ? claims.url : claims.url.replace(/^https/u, 'wss');
  return { ...claims, url, schemaId, nonce: `${claims.nonce}-${transport}` };
}

function trustIn(issuer: Issuer): WrittenSettings {
  const sources = (['grpc', 'websocket'] as const).map((transport) => {
    const { organizationId, url, schemaId, audience, subject, nonce } = claimsFor(issuer, transport);
    const id = `fake-${transport}`;
    return { id, organization_id: organizationId, url, schema_id: schemaId, audience, subject, nonce, transport };
  });
  return { platform: { profile: 'fake', extra_issuers: [issuer.issuer] }, auth: { data_sources: sources } };
}

async function held(
  target: string,
  scenario: Scenario,
  { organizationId, token, models, ...access }: CallAccess,
  { issuer, voice }: { readonly issuer: Issuer; readonly voice: CallerVoice },
): Promise<ScenarioResult> {
  const claims = claimsFor(issuer, parseTarget(target).transport);
  const name = scenario.steps?.length === undefined ? 'a call' : `a call of ${String(scenario.steps.length)} steps`;
  const file = checkScenario({ ...scenario, name });
  // Paths of recordings are relative to the current folder.
  const planned = planTests(file, path.resolve('scenario'), () => ({ line: 1, column: 1 }));
  const [test] = await readyTests(planned, { ...voice, readFile: readBounded });
  if (test === undefined) throw new RangeError('there is no scenario');
  await announceWords(models, test.script);
  const shown = token === undefined ? await issuer.issueToken(claims) : token;
  const call = await placeCall({
    ...{ target, profile: loadProfile('fake'), organizationId: organizationId ?? claims.organizationId, changeRate: voice.changeRate },
    ...access,
    ...(shown !== null && { token: shown }),
    ...callOptionsOf(test),
  });
  const failures = failuresOf(test, call);
  return { ...call, ok: failures.length === 0, failures };
}
