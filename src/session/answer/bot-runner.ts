// The first wait of a turn: ask the bot, keep its new state, speak; one input, notification or farewell after the other. Whatever goes
// wrong here, the caller hears an apology, and on the second failure in a row goes to a human.
import { toAppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { NotifyingEvent, ReplyingEvent } from '../../bot/bot.ts';
import { say, type Answer } from '../../bot/saying.ts';
import type { SessionEnd, TurnEnd } from '../../dialog/ending.ts';
import type { Listen, Prompt, Reply } from '../../dialog/reply.ts';
import type { Conversation } from '../conversation.ts';
import { logIds, type NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';
import type { Cut } from '../playout/playout.ts';
import { ReplyWriter } from '../playout/reply-writer.ts';
import { keptReply, replyOf } from '../snapshot/kept-reply.ts';
import { migrated } from '../snapshot/migration.ts';
import type { KeptReply, Snapshot } from '../snapshot/snapshot.ts';
import { listeningPatience, type Ear } from '../turn/ear.ts';
import type { Turn } from '../turn/turn.ts';
import { BotQuestion, type Outcome } from './bot-question.ts';
import { isSensitiveInput, type CompleteInput } from './caller-event.ts';
import { endOf, Farewell, lastNext, type Delivery } from './farewell.ts';
import { finalNext, listenSettings } from './final-next.ts';
import { notify } from './notifications.ts';
import { transcriptAfter } from './transcript.ts';

/** How often in a row a bot may fail before its caller goes to a human. */
const FAILURES_BEFORE_TRANSFER = 2;

/** What a turn is answered with. */
interface Answered {
  readonly answer: Answer<JsonValue>;
  /** Undefined when not even that was known in time. */
  readonly event: ReplyingEvent | undefined;
  /** What was spoken before the answer. */
  readonly early?: readonly Prompt[];
  readonly hasFailed?: boolean;
}

/** Runs the bot of one session, which owns it. What it is given is done in order, one piece after the other; none of it throws. */
export class BotRunner {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  readonly #ear: Ear;
  readonly #farewell: Farewell;
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  /** @param ear - which listens with the patience that a reply asks for. */
  constructor(parts: EngineParts, conversation: Conversation, ear: Ear) {
    this.#parts = parts;
    this.#conversation = conversation;
    this.#ear = ear;
    this.#farewell = new Farewell(parts);
  }

  /** Pieces of work that are not done, the present one included. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when everything that was given so far is done. */
  done(): Promise<void> {
    return this.#last;
  }

  /** Answers one complete input and ends its turn. */
  answer(turn: Turn, input: CompleteInput): void {
    this.#add(async () => {
      const delivery = this.#delivery(turn, input.completeAtMs);
      try {
        // Only now is it known what came of the answer before it.
        await this.#answer(delivery, { ...input, heard: this.#conversation.playout.settled(input.heard) });
      } catch (thrown) {
        await this.#farewell.transferAfter(delivery, toAppError(thrown));
      }
    });
  }

  /** Ends the call from our side on an open turn: see {@link Farewell.transfer}. */
  leave(turn: Turn, end: SessionEnd): void {
    this.#add(() => this.#farewell.transfer(this.#delivery(turn), end));
  }

  /** See {@link Farewell.settle}. */
  settle(turn: Turn): void {
    this.#add(() => this.#farewell.settle(this.#delivery(turn)));
  }

  /** Brings an event to a bot that has a handler for it. After an end of ours it is notified of nothing but that. */
  notify(event: NotifyingEvent, turn: NamedTurn): void {
    const { bot, isEnded } = this.#conversation;
    if (!bot.notes.has(event.type) || isEnded) return;
    this.#add(async () => {
      if (!this.#conversation.hasFarewell) await notify(this.#parts, this.#conversation, event, turn);
    });
  }

  /** The last thing a bot hears of a session; its state is dropped then. */
  end(by: SessionEnd): void {
    const conversation = this.#conversation;
    const { call, bot } = conversation;
    const id = `${call.conversationId}#end`;
    this.#add(async () => {
      if (bot.notes.has('session_end'))
        await notify(this.#parts, conversation, { type: 'session_end', by }, { id, logIds: logIds(call, { id }) });
      conversation.snapshot = { ...conversation.snapshot, state: null };
    });
  }

  #add(work: () => Promise<void>): void {
    const { call } = this.#conversation;
    this.#size += 1;
    this.#last = this.#last
      .then(work)
      .catch((err: unknown) => {
        this.#parts.log.error({ conversationId: call.conversationId, err }, 'work of a session failed');
      })
      // A log that fails must not stop the queue.
      .catch(() => undefined)
      .finally(() => {
        this.#size -= 1;
      });
  }

  /** @param completeAtMs - since when the caller waits; now where no input is answered. */
  #delivery(turn: Turn, completeAtMs = this.#parts.clock.monotonicMs()): Delivery {
    const conversation = this.#conversation;
    const { clock, observer, settings, voice, hurry } = this.#parts;
    const writer = new ReplyWriter({
      ...{ turn, conversation, settings, voice, clock, hurry },
      onFirstAudio: () => {
        observer.replyStarted?.(conversation.call, turn.id, clock.monotonicMs() - completeAtMs);
      },
    });
    return { conversation, turn, writer };
  }

  async #answer(delivery: Delivery, input: CompleteInput): Promise<void> {
    const decided = this.#decided(delivery);
    await (decided ?? this.#spoken(delivery, input, await this.#asked(delivery, input)));
  }

  /** What is said without the bot, in the order in which one goes before the other; undefined: it is asked. */
  #decided(delivery: Delivery): Promise<void> | undefined {
    const { conversation, turn } = delivery;
    const { repliedTo, reply } = conversation.snapshot;
    if (conversation.isOver) return this.#farewell.settle(delivery);
    // A turn that was completed meanwhile can deliver no farewell.
    if (conversation.leaving !== undefined)
      return turn.over.isAborted ? Promise.resolve() : this.#farewell.transfer(delivery, conversation.leaving);
    if (repliedTo !== undefined && repliedTo === turn.forwardedId) return this.#sayAgain(delivery, reply);
    return undefined;
  }

  async #asked({ conversation, turn, writer }: Delivery, input: CompleteInput): Promise<Outcome> {
    if (conversation.snapshot.bot.version !== conversation.bot.version)
      conversation.snapshot = migrated(conversation.bot, conversation.snapshot, this.#parts);
    if (!conversation.snapshot.started && input.act.kind !== 'session_start') {
      this.#parts.log.warn(turn.logIds, 'the call is unknown here; its bot starts over');
    }
    const outcome = await new BotQuestion(this.#parts, conversation, turn, writer).ask(input);
    // What comes of it on a turn that was cut before its first word is not heard.
    if (outcome.kind !== 'abandoned' && (!turn.wanted.isAborted || turn.hasSpoken)) conversation.waitingSinceMs = undefined;
    return outcome;
  }

  #spoken(delivery: Delivery, { cut }: CompleteInput, outcome: Outcome): Promise<void> {
    const { conversation, turn } = delivery;
    const { observer } = this.#parts;
    switch (outcome.kind) {
      case 'answer':
        return this.#speak(delivery, outcome);
      case 'failed':
        observer.botFailed?.(conversation.call, turn.id, outcome.error);
        return this.#speak(delivery, { answer: this.#excuse(conversation), event: outcome.event, hasFailed: true });
      case 'abandoned':
        // The caller talked on or left, and the bot was still busy: its answer is not waited for.
        return this.#listenOn(delivery, [], conversation.snapshot.listen, 'interrupted');
      case 'false_interruption':
        observer.promptResumed?.(conversation.call, turn.id);
        return this.#goOn(delivery, cut);
    }
  }

  /** What cut the prompts was no speech: they go on a little before the cut, or begin anew where their sound was the home's before. */
  async #goOn(delivery: Delivery, cut: Cut | undefined): Promise<void> {
    const { listen, reply } = delivery.conversation.snapshot;
    const isHere = cut !== undefined && cut.rest.length > 0;
    if (isHere) await delivery.writer.resume(cut);
    const prompts = isHere || reply === undefined ? [] : replyOf(reply).prompts;
    await this.#listenOn(delivery, prompts, listen, 'replied', !isHere);
  }

  /** The home before has decided this reply to this very turn, and died before the turn was over: the caller hears it, the bot is not asked again. */
  async #sayAgain(delivery: Delivery, kept: KeptReply | undefined): Promise<void> {
    const { conversation, turn } = delivery;
    this.#parts.observer.replyRepeated?.(conversation.call, turn.id);
    // One that was too large to travel is gone: the caller is asked again.
    const { prompts } = kept === undefined ? say(this.#parts.settings.apology).listen() : replyOf(kept);
    await this.#listenOn(delivery, prompts, conversation.snapshot.listen, 'replied', true);
  }

  async #speak(delivery: Delivery, { answer: { state, reply }, event, early = [], hasFailed = false }: Answered): Promise<void> {
    const { conversation, turn, writer } = delivery;
    const { snapshot } = conversation;
    const { settings } = this.#parts;
    const { next, prompts } = reply;
    const before = turn.forwardedId === undefined ? undefined : conversation.snapshotNow(this.#parts);
    const isEnd = next.kind !== 'listen';
    const isSensitive = isSensitiveInput(snapshot, event);
    const lastTexts = isEnd ? [...writer.saidTexts, ...prompts.flatMap((prompt) => (prompt.kind === 'text' ? [prompt.text] : []))] : [];
    const transcript = settings.keepsTranscript ? transcriptAfter(snapshot, event, isSensitive, lastTexts) : [];
    conversation.snapshot = {
      ...snapshot,
      state,
      reply: this.#kept({ prompts: [...early, ...prompts], next: isEnd ? next : withoutEvent(next) }),
      repliedTo: turn.forwardedId,
      started: snapshot.started || !hasFailed,
      listen: isEnd ? snapshot.listen : withoutEvent(next),
      failures: hasFailed ? snapshot.failures + 1 : 0,
      misses: event?.type === 'no_input' ? snapshot.misses + 1 : 0,
      sensitive: snapshot.sensitive || (!isEnd && next.sensitive === true),
      lastWasSensitive: isSensitive,
      transcript,
      turns: snapshot.turns + 1,
      ended: isEnd,
    };
    if (isEnd) {
      // The farewell takes seconds: another home must know that nothing comes behind it.
      this.#save(conversation);
      const end = hasFailed ? 'failed' : endOf(next);
      await this.#farewell.say(delivery, prompts, { next: lastNext(next, settings, transcript), end }, hasFailed ? 'failed' : 'replied');
      return;
    }
    // The platform, too, may hear the rest of it first.
    const isRestOpen = isSensitive && turn.wanted.isAborted && !writer.hasSaid;
    const asked = isRestOpen ? { ...next, sensitive: true } : next;
    try {
      await this.#listenOn(delivery, prompts, asked, hasFailed ? 'failed' : 'replied', true);
    } finally {
      // Once its prompts are on the wire: a home that dies before has not answered.
      this.#save(conversation);
      if (before !== undefined) void this.#takeBackUnlessDelivered(delivery, before);
    }
  }

  /** The process that forwarded the turn may have died with the reply: the platform then brings the same input again, through another one. */
  async #takeBackUnlessDelivered({ conversation, turn }: Delivery, before: Snapshot): Promise<void> {
    const { snapshot } = conversation;
    const isDelivered = (await turn.delivered?.()) ?? true;
    if (isDelivered || !conversation.takeBack(snapshot, before, this.#parts)) return;
    this.#listensFor(before.listen);
    this.#save(conversation);
  }

  /**
   * Speaks and waits for the caller; one whom we leave meanwhile is transferred instead.
   *
   * @param isKept - the bot goes on from what is said: it must not take for heard what does not reach the caller.
   */
  async #listenOn(
    { conversation, turn, writer }: Delivery,
    prompts: readonly Prompt[],
    next: Listen,
    end: TurnEnd,
    isKept = false,
  ): Promise<void> {
    const { playout } = conversation;
    if (isKept) this.#listensFor(next);
    const isDone = await writer.finish(prompts, finalNext(next, this.#parts.settings.listen), false, end === 'failed');
    if (!isDone || turn.wanted.isAborted) {
      if (writer.hasSaid) playout.dropped();
      else playout.unspoken(isKept);
    }
    if (!isDone && !turn.over.isAborted && conversation.leaving !== undefined)
      await this.#farewell.transfer({ conversation, turn, writer }, conversation.leaving);
    else turn.finish(end === 'replied' && turn.wanted.isAborted ? 'interrupted' : end);
  }

  /** What the caller is asked for, of the platform and of the ear. */
  #listensFor(listen: Listen): void {
    const { settings } = this.#parts;
    this.#ear.expect(listeningPatience(listen, this.#conversation.bot, settings));
    this.#conversation.asked = listenSettings(listen, settings.listen);
  }

  #save(conversation: Conversation): void {
    const { snapshots } = this.#parts;
    const { call, isTied, isEnded } = conversation;
    // What is over, or lives in another process by now, is not written any more.
    if (!isTied && !isEnded && snapshots.isShared) snapshots.save(call, conversation.snapshotNow(this.#parts));
  }

  /** Nobody says it a second time where no other process can. */
  #kept(reply: Reply): KeptReply | undefined {
    return this.#parts.snapshots.isShared ? keptReply(reply, this.#parts.settings.maxStateBytes) : undefined;
  }

  #excuse({ snapshot }: Conversation): Answer<JsonValue> {
    const { apology, handover } = this.#parts.settings;
    const { state, failures, listen } = snapshot;
    if (failures + 1 >= FAILURES_BEFORE_TRANSFER) return { state, reply: say(handover).transfer({ reason: 'failed' }) };
    // The caller answers the same question again.
    return { state, reply: { ...say(apology).listen(), next: listen } };
  }
}

/** What is asked for again when need be. What the flow gets goes out once, and may repeat a sensitive input (G-83). */
function withoutEvent({ event: _, ...listen }: Listen): Listen {
  return listen;
}
