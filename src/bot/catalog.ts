// The bots that this server answers with, by id, and which organization may choose which of them. Knows no files and no
// wire.
import { AppError } from '../base/errors.ts';
import type { Bot } from './bot.ts';

/** One line of the list that administrators choose from. */
export interface AgentEntry {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
}

/** The bots of one organization. */
export interface OrganizationBots {
  readonly organizationId: string;
  /** Ids; the organization sees exactly these. */
  readonly bots: readonly string[];
  /** One of them; undefined: the general default where it is among them, else none. */
  readonly defaultBot?: string | undefined;
}

/** Who sees which bots. */
export interface CatalogRules {
  /** Answers when the platform names no agent; undefined: the first bot in id order does, and no agent is marked. */
  readonly defaultBot?: string | undefined;
  readonly organizations?: readonly OrganizationBots[];
  /** What an organization sees that has no list: every bot or none; default all. */
  readonly others?: 'all' | 'none';
}

/** Whoever needs the catalogue asks for the current one each time: a reload replaces it while calls are running. */
export interface CatalogSource {
  readonly current: Catalog;
}

/** What one organization sees. */
interface View {
  /** In id order. */
  readonly bots: ReadonlyMap<string, Bot>;
  readonly defaultId: string | undefined;
}

/** An immutable set of bots; each organization has at most one default among those it sees (G-07). */
export class Catalog {
  /** Every bot, in id order. */
  readonly bots: readonly Bot[];
  readonly #byOrganization: ReadonlyMap<string, View>;
  readonly #others: View;

  /** @throws AppError `bot_invalid` when two bots share an id, a rule names a bot that is not there or an organization twice. */
  constructor(bots: readonly Bot[], rules: CatalogRules = {}) {
    this.bots = [...bots].sort((a, b) => (a.id < b.id ? -1 : 1));
    const all = new Map<string, Bot>();
    for (const bot of this.bots) {
      if (all.has(bot.id)) throw new AppError('bot_invalid', `two bots have the id "${bot.id}"`);
      all.set(bot.id, bot);
    }
    const { defaultBot, organizations = [], others = 'all' } = rules;
    if (defaultBot !== undefined) demand(all, defaultBot, 'the default bot');
    this.#others = others === 'all' ? { bots: all, defaultId: defaultBot } : { bots: new Map(), defaultId: undefined };
    this.#byOrganization = new Map(organizations.map((listed) => [listed.organizationId, viewOf(listed, all, defaultBot)]));
    if (this.#byOrganization.size < organizations.length) throw new AppError('bot_invalid', 'an organization has two lists of bots');
  }

  /** What ListVirtualAgents shows an organization (G-05, G-06): ids are stable, at most one default. May be empty. */
  agents(organizationId: string): readonly AgentEntry[] {
    const { bots, defaultId } = this.#viewOf(organizationId);
    return [...bots.values()].map(({ id, name }) => ({ id, name, isDefault: id === defaultId }));
  }

  /**
   * The bot of an agent id, when the organization may choose it; an empty id means its default, else its first bot
   * (G-07). Undefined when there is none.
   */
  find(agentId: string, organizationId: string): Bot | undefined {
    const { bots, defaultId } = this.#viewOf(organizationId);
    if (agentId !== '') return bots.get(agentId);
    return defaultId === undefined ? bots.values().next().value : bots.get(defaultId);
  }

  #viewOf(organizationId: string): View {
    return this.#byOrganization.get(organizationId) ?? this.#others;
  }
}

function viewOf({ bots, defaultBot }: OrganizationBots, all: ReadonlyMap<string, Bot>, generalDefault: string | undefined): View {
  const listed = new Set(bots);
  for (const id of listed) demand(all, id, 'a bot of an organization');
  if (defaultBot !== undefined) demand(listed, defaultBot, 'the default bot of an organization');
  return {
    bots: new Map([...all].filter(([id]) => listed.has(id))),
    defaultId: defaultBot ?? (generalDefault !== undefined && listed.has(generalDefault) ? generalDefault : undefined),
  };
}

function demand(known: { has(id: string): boolean; keys(): Iterable<string> }, id: string, what: string): void {
  if (!known.has(id)) throw new AppError('bot_invalid', `${what}, "${id}", is not among these bots: ${[...known.keys()].join(', ')}`);
}

/** Ids of bots that answer speech and want its words: without a recognizer they hear none. */
export function wantingWords(bots: readonly Bot[]): readonly string[] {
  return bots.filter(({ handlers, recognition }) => recognition === 'engine' && handlers.includes('speech_input')).map(({ id }) => id);
}
