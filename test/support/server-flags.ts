// The flags of a server that is started by tests and checks, as an operator would give them. Starts nothing.
import { packageRoot } from '../../src/base/package-root.ts';
import type { ThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { SPOKEN_PROMPTS } from './spoken-prompts.ts';

/** Folder of the bots that are made for tests. */
const TEST_BOTS = `${packageRoot()}/test/fixtures/bots`;
/** Folder of recorded speech; test bots play from it. */
export const TEST_SPEECH = `${packageRoot()}/test/fixtures/speech`;

/** Flags that load the test bots with their recordings. */
export const WITH_TEST_BOTS = [`--bots.folder=${TEST_BOTS}`, `--bots.prompts_folder=${TEST_SPEECH}`, '--bots.default_bot=tester'];

/** For tests of the voice itself, after the other flags: nothing has been spoken before. */
export const SPEAKS_ANEW = '--synthesizer.cache_folder=';

/**
 * The flags of a server on free ports of loopback that trusts this issuer.
 *
 * @param certificate - plaintext without.
 */
export function serverFlags(
  { issuer }: Issuer,
  certificate: ThrowAwayCertificate | undefined,
  dataSources: readonly Readonly<Record<string, unknown>>[],
): readonly string[] {
  return [
    '--platform.profile=fake',
    `--platform.extra_issuers=${JSON.stringify([issuer])}`,
    '--grpc.host=127.0.0.1',
    '--grpc.port=0',
    // Making the descriptors is a tenth of a start.
    '--grpc.reflection=false',
    ...(certificate === undefined
      ? ['--tls.mode=off']
      : [`--tls.certificate_file=${certificate.certificateFile}`, `--tls.key_file=${certificate.keyFile}`]),
    `--auth.data_sources=${JSON.stringify(dataSources)}`,
    `--synthesizer.cache_folder=${SPOKEN_PROMPTS}`,
    '--ops.port=0',
    '--log.level=debug',
    // A machine that runs many tests at once is busy; that must refuse no call.
    '--overload.max_loop_delay_ms=0',
    '--overload.max_heap_percent=0',
    // All callers of a test belong to one organization.
    '--sessions.max_per_organization=0',
    '--sessions.max_new_per_s_per_organization=0',
  ];
}

/** The data source whose tokens an issuer signs, as the configuration wants it. */
export function dataSource({ claims }: Issuer): Readonly<Record<string, string>> {
  return {
    id: 'ds-test',
    organization_id: claims.organizationId,
    url: claims.url,
    schema_id: claims.schemaId,
    audience: claims.audience,
    subject: claims.subject,
    nonce: claims.nonce,
    transport: 'grpc',
  };
}
