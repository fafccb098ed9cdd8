// The bots of this server by id, and which organization may choose which of them. Knows no files and no wire.
import { AppError } from '../base/errors.ts';
import { primarySubtag } from '../dialog/languages.ts';
import type { Bot } from './bot.ts';

/** One entry of the list that administrators choose from. */
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
  /** One of them; undefined: the general default if it is among them, else none. */
  readonly defaultBot?: string | undefined;
}

/** Who sees which bots. */
export interface CatalogRules {
  /** Answers when the platform names no agent; undefined: the first bot by id does, and no agent is marked as default. */
  readonly defaultBot?: string | undefined;
  readonly organizations?: readonly OrganizationBots[];
  /** What an organization without a list sees: every bot or none; default all. */
  readonly others?: 'all' | 'none';
}

/** Request the catalogue each time it is needed: a reload replaces it while calls are running. */
export interface CatalogSource {
  readonly current: Catalog;
}

/** What one organization sees. */
interface View {
  /** Sorted by id. */
  readonly bots: ReadonlyMap<string, Bot>;
  readonly defaultId: string | undefined;
}

/** An immutable set of bots; each organization has at most one default among those it sees (G-07). */
export class Catalog {
  /** Every bot, sorted by id. */
  readonly bots: readonly Bot[];
  readonly #byOrganization: ReadonlyMap<string, View>;
  readonly #others: View;

  /** @throws AppError `bot_invalid` when two bots share an id, or a rule names a missing bot or an organization twice. */
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

  /** The list for ListVirtualAgents (G-05, G-06): stable ids, at most one default. May be empty. */
  agents(organizationId: string): readonly AgentEntry[] {
    const { bots, defaultId } = this.#viewOf(organizationId);
    return [...bots.values()].map(({ id, name }) => ({ id, name, isDefault: id === defaultId }));
  }

  /**
   * The bot of an agent id, if the organization may choose it; an empty id means its default, else its first bot
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

/** Ids of bots with another language than English, which the embedded synthesizer reads as if it were English. */
export function speakingOther(bots: readonly Bot[]): readonly string[] {
  return bots.filter(({ speaks }) => primarySubtag(speaks?.language ?? 'en') !== 'en').map(({ id }) => id);
}

/** Ids of bots that want the caller's words: without a recognizer they get none. */
export function wantingWords(bots: readonly Bot[]): readonly string[] {
  return bots.filter(wantsWords).map(({ id }) => id);
}

/** Whether a bot wants the caller's words. */
export function wantsWords({ handlers, recognition }: Bot): boolean {
  return recognition === 'engine' && handlers.includes('speech_input');
}
