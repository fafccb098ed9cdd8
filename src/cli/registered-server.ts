// Sends the platform's requests to the server at a registered address: health and list of agents. Uses the fake platform's clients,
// which connect and check certificates as `parley call` does. Decides nothing.
import { rootCertificates } from 'node:tls';
import type { AgentsQuestion, DoctorContext } from '../admin/doctor/context.ts';
import type { Clock } from '../base/clock.ts';
import type { FindingCode } from '../fake-platform/caller/finding.ts';
import { GrpcConnection } from '../fake-platform/lines/grpc-line.ts';
import { openConnection, type ConnectionOptions } from '../fake-platform/lines/open-connection.ts';

const CONNECT_LIMIT_MS = 5000;
/** Longest wait for an answer, including the connection, ms. */
const ANSWER_LIMIT_MS = 8000;

/** Errors that a healthy server may answer when it has no health service, which is optional (1.8). */
const ANSWERS: ReadonlySet<FindingCode> = new Set<FindingCode>(['not_served', 'unauthenticated', 'forbidden']);

export interface ServerQuestionsOptions {
  readonly profile: ConnectionOptions['profile'];
  readonly clock: Clock;
  /** PEM certificates of authorities to trust beside those of Node. */
  readonly authorities: readonly string[];
  /** Path of the registered address before the WebSocket paths (W-02). Undefined: none. */
  readonly socketPathPrefix: string | undefined;
}

/** The requests. Each opens its own connection, and closes it before it resolves. */
export function serverQuestions(options: ServerQuestionsOptions): Required<Pick<DoctorContext, 'health' | 'listAgents'>> {
  return {
    health: async (endpoint, signal) => {
      const server = new GrpcConnection(accessTo(options, { endpoint, transport: 'grpc' }));
      try {
        const answer = await server.checkHealth(ANSWER_LIMIT_MS, signal);
        if (typeof answer === 'string') return answer;
        return ANSWERS.has(answer.code) ? 'unknown' : { unanswered: answer.message };
      } finally {
        await server.close();
      }
    },
    listAgents: async (question, signal) => {
      const server = openConnection(accessTo(options, question));
      try {
        const answer = await server.listAgents(question.organizationId, ANSWER_LIMIT_MS, signal);
        return 'code' in answer ? { kind: 'refused', why: answer.message } : { kind: 'listed', count: answer.length };
      } finally {
        await server.close();
      }
    },
  };
}

function accessTo(
  { profile, clock, authorities, socketPathPrefix }: ServerQuestionsOptions,
  { endpoint, transport, token }: Pick<AgentsQuestion, 'endpoint' | 'transport'> & Partial<Pick<AgentsQuestion, 'token'>>,
): ConnectionOptions {
  const { host, port, isTls } = endpoint;
  const pathPrefix = transport === 'websocket' ? socketPathPrefix : undefined;
  return {
    ...{ profile, clock, connectLimitMs: CONNECT_LIMIT_MS },
    target: { transport, host, port, isSecure: isTls, ...(pathPrefix === undefined ? {} : { pathPrefix }) },
    ...(token === undefined ? {} : { token }),
    // A given list replaces Node's own authorities, so the list must contain these, too.
    ...(authorities.length === 0 ? {} : { certificateAuthority: Buffer.from([...rootCertificates, ...authorities].join('\n')) }),
  };
}
