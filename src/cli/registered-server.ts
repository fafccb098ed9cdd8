// Asks the server that answers at a registered address what the platform asks it: its health and its agents. Uses the fake
// platform's clients, which dial and check certificates as `parley call` does. Decides nothing.
import { rootCertificates } from 'node:tls';
import type { AgentsQuestion, DoctorContext } from '../admin/doctor/context.ts';
import type { Clock } from '../base/clock.ts';
import type { FindingCode } from '../fake-platform/caller/finding.ts';
import { GrpcConnection } from '../fake-platform/lines/grpc-line.ts';
import { openConnection, type ConnectionOptions } from '../fake-platform/lines/open-connection.ts';

const CONNECT_LIMIT_MS = 5000;
/** Longest wait for an answer, connection included, ms. */
const ANSWER_LIMIT_MS = 8000;

/** What a server says that is well and has no health service for us, which is optional (1.8). */
const ANSWERS: ReadonlySet<FindingCode> = new Set<FindingCode>(['not_served', 'unauthenticated', 'forbidden']);

export interface ServerQuestionsOptions {
  readonly profile: ConnectionOptions['profile'];
  readonly clock: Clock;
  /** PEM certificates of authorities that are trusted beside those of the runtime. */
  readonly authorities: readonly string[];
  /** Before the paths of a server that takes calls over WebSocket (W-02). */
  readonly socketPathPrefix: string | undefined;
}

/** The questions, each over a connection of its own that is closed before the answer is given. */
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
    // Given at all, they replace the runtime's own.
    ...(authorities.length === 0 ? {} : { certificateAuthority: Buffer.from([...rootCertificates, ...authorities].join('\n')) }),
  };
}
