// Answers operators' questions about this process.
import type { Clock } from '../../base/clock.ts';
import type { ShownServer } from '../../ops/console-api.ts';
import type { CallTimelines } from '../../telemetry/call-timeline.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { OrganizationReport } from '../../telemetry/organization-report.ts';
import type { RefusedOrganizations } from '../../telemetry/refused-organizations.ts';
import { servicesIn } from '../../telemetry/service-readings.ts';
import { timelineView } from '../../telemetry/timeline-view.ts';
import type { Traffic } from '../../telemetry/traffic.ts';
import type { OthersAnswers } from '../homes.ts';
import { answerIn, questionIn, sentText, type Answer, type ConsoleQuestion, type Everywhere, type Question } from './questions.ts';

/** Most calls that one process returns for a search. */
const MAX_FOUND = 200;

export interface AnsweringParts {
  readonly metrics: Pick<Metrics, 'reading'> & { readonly admin: Pick<Metrics['admin'], 'dataSources'> };
  readonly calls: CallTimelines;
  readonly refused: RefusedOrganizations;
  readonly traffic: Traffic;
  readonly organizations: Pick<OrganizationReport, 'organizations'>;
  /** This process as it is now. */
  readonly server: () => ShownServer;
  readonly askOthers: (question: string) => Promise<OthersAnswers>;
  readonly clock: Clock;
}

/** One per process that takes calls. */
export class Answering {
  readonly #parts: AnsweringParts;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
  }

  async answer(question: Question): Promise<Answer> {
    const { metrics, calls, refused, traffic, server, clock } = this.#parts;
    if (question === 'metrics') return { metrics: await metrics.reading() };
    if (question === 'calls') return { calls: calls.recent(), refused: refused.most };
    if (question === 'report') {
      const services = servicesIn(await metrics.reading());
      const report = {
        server: server(),
        traffic: traffic.slots,
        refused: refused.most,
        dataSources: metrics.admin.dataSources(),
        services,
      };
      return { report };
    }
    if (question === 'organizations') return { organizations: this.#parts.organizations.organizations };
    if ('everywhere' in question) return { everywhere: await this.everywhere(question.everywhere) };
    if ('search' in question) {
      const { id } = server();
      return {
        found: calls
          .search(question.search, MAX_FOUND)
          .map(({ end, ...call }) => ({ ...call, server: id, ...(end !== undefined && { end }) })),
      };
    }
    if ('view' in question) {
      const found = calls.find(question.view);
      return { view: found && timelineView(found, clock.nowMs()) };
    }
    return { call: calls.find(question.conversationId) };
  }

  /** Asks this process and all other servers. Bounded in time. */
  async everywhere(question: ConsoleQuestion): Promise<Everywhere> {
    const [own, others] = await Promise.all([this.answer(question), this.#parts.askOthers(sentText(question))]);
    const answers = others.answers.flatMap((text) => answerIn(text) ?? []);
    const silent = others.silent.map(({ id, address, isDraining }) => ({ id, address, isDraining }));
    return { answers: [own, ...answers], silent };
  }

  /** Answers a question that another server sent. @throws Error for an unknown form. */
  async answerText(question: string): Promise<string> {
    const asked = questionIn(question);
    if (asked === undefined) throw new Error('another version asks');
    return sentText(await this.answer(asked));
  }
}
