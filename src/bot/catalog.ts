// The bots that this server answers with, by id. Knows no files and no wire.
import { AppError } from '../base/errors.ts';
import type { Bot } from './bot.ts';

/** One line of the list that administrators choose from. */
export interface AgentEntry {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
}

/** An immutable set of bots with at most one default (G-07). */
export class Catalog {
  readonly #bots: ReadonlyMap<string, Bot>;
  readonly #defaultId: string | undefined;

  /**
   * @param defaultId - answers when the platform names no agent; default: the first bot in id order.
   * @throws AppError `bot_invalid` when two bots share an id or the default is not among them.
   */
  constructor(bots: readonly Bot[], defaultId?: string) {
    const byId = new Map<string, Bot>();
    for (const bot of [...bots].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (byId.has(bot.id)) throw new AppError('bot_invalid', `two bots have the id "${bot.id}"`);
      byId.set(bot.id, bot);
    }
    if (defaultId !== undefined && !byId.has(defaultId)) {
      throw new AppError('bot_invalid', `the default bot "${defaultId}" is not among the loaded bots: ${[...byId.keys()].join(', ')}`);
    }
    this.#bots = byId;
    this.#defaultId = defaultId;
  }

  /** Every bot, in id order. */
  get bots(): readonly Bot[] {
    return [...this.#bots.values()];
  }

  /** What ListVirtualAgents shows (G-05, G-06): ids are stable, at most one default. */
  agents(): readonly AgentEntry[] {
    return this.bots.map(({ id, name }) => ({ id, name, isDefault: id === this.#defaultId }));
  }

  /** The bot of an agent id; an empty id means the default, else the first bot (G-07). Undefined when there is none. */
  find(agentId: string): Bot | undefined {
    if (agentId !== '') return this.#bots.get(agentId);
    return this.#defaultId === undefined ? this.#bots.values().next().value : this.#bots.get(this.#defaultId);
  }
}
