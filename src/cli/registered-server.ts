// Asks the server that answers at a registered address what the platform asks it: its health and its agents. Uses the fake
// platform's clients, which dial and check certificates as `parley call` does. Judges nothing.
import { rootCertificates } from 'node:tls';
import type { DoctorContext } from '../admin/doctor/context.ts';
import type { Endpoint } from '../admin/doctor/subject.ts';
import type { Clock } from '../base/clock.ts';
import { GrpcConnection, type GrpcLineOptions } from '../fake-platform/grpc-line.ts';
import { openConnection } from '../fake-platform/open-connection.ts';

const CONNECT_LIMIT_MS = 5000;
/** Longest wait for an answer, connection included, ms. */
const ANSWER_LIMIT_MS = 8000;

/** Who asks. */
export interface ServerQuestionsOptions {
  readonly profile: GrpcLineOptions['profile'];
  readonly clock: Clock;
  /** PEM certificates of authorities that are trusted beside those of the runtime. */
  readonly authorities: readonly string[];
}

/** The questions, each over a connection of its own that is closed before the answer is given. */
export function serverQuestions(options: ServerQuestionsOptions): Required<Pick<DoctorContext, 'health' | 'listAgents'>> {
  return {
    health: async (endpoint, signal) => {
      const server = new GrpcConnection(accessTo(options, endpoint, undefined));
      const answer = await server.checkHealth(ANSWER_LIMIT_MS, signal);
      server.close();
      // Why a connection does not come about, other checks say.
      return typeof answer === 'string' ? answer : 'unknown';
    },
    listAgents: async ({ endpoint, organizationId, token }, signal) => {
      const server = openConnection(accessTo(options, endpoint, token));
      const answer = await server.listAgents(organizationId, ANSWER_LIMIT_MS, signal);
      await server.close();
      return 'code' in answer ? { kind: 'refused', why: answer.message } : { kind: 'listed', count: answer.length };
    },
  };
}

function accessTo(
  { profile, clock, authorities }: ServerQuestionsOptions,
  { host, port, isTls, isGrpc }: Endpoint,
  token: string | undefined,
): GrpcLineOptions {
  return {
    ...{ profile, clock, connectLimitMs: CONNECT_LIMIT_MS },
    target: { transport: isGrpc ? 'grpc' : 'websocket', host, port, isSecure: isTls },
    ...(token === undefined ? {} : { token }),
    // Given at all, they replace the runtime's own.
    ...(authorities.length === 0 ? {} : { certificateAuthority: Buffer.from([...rootCertificates, ...authorities].join('\n')) }),
  };
}
