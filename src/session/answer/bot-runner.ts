// Runs a session's bot: asks it, keeps its new state, and speaks its replies; one input, notification or farewell at a time.
// After a failure the caller hears an apology; after the second one in a row the caller is transferred.
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
import { savedReply, replyOf } from '../snapshot/saved-reply.ts';
import { migrated } from '../snapshot/migration.ts';
import type { SavedReply, Snapshot } from '../snapshot/snapshot.ts';
import { listeningPatience, type CallerAudio } from '../turn/caller-audio.ts';
import { linesOf } from '../settings.ts';
import type { Turn } from '../turn/turn.ts';
import { BotQuestion, type Outcome } from './bot-question.ts';
import { isSensitiveInput, type CompleteInput } from './caller-event.ts';
import { endOf, Farewell, lastNext, type Delivery } from './farewell.ts';
import { finalNext, listenSettings } from './final-next.ts';
import { notify } from './notifications.ts';
import { transcriptAfter } from './transcript.ts';
import { timedListen } from './waking.ts';

/** Number of bot failures in a row after which the caller is transferred. */
const FAILURES_BEFORE_TRANSFER = 2;

interface Answered {
  readonly answer: Answer<JsonValue>;
  /** Undefined when the deadline passed before the event was known. */
  readonly event: ReplyingEvent | undefined;
  /** Prompts that were spoken before the reply. */
  readonly early?: readonly Prompt[];
  readonly hasFailed?: boolean;
}

/** Owned by a session. Runs its work in order, one piece at a time; no method throws. */
export class BotRunner {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  readonly #callerAudio: CallerAudio;
  readonly #farewell: Farewell;
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  constructor(parts: EngineParts, conversation: Conversation, callerAudio: CallerAudio) {
    this.#parts = parts;
    this.#conversation = conversation;
    this.#callerAudio = callerAudio;
    this.#farewell = new Farewell(parts);
  }

  /** Number of unfinished pieces of work. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when all work so far is done. */
  done(): Promise<void> {
    return this.#last;
  }

  /** Answers one complete input and ends its turn. */
  answer(turn: Turn, input: CompleteInput): void {
    this.#add(async () => {
      const delivery = this.#delivery(turn, input.completeAtMs);
      try {
        // The outcome of the previous answer is known only now.
        await this.#answer(delivery, { ...input, heard: this.#conversation.playout.settled(input.heard) });
      } catch (thrown) {
        await this.#farewell.transferAfter(delivery, toAppError(thrown));
      }
    });
    this.#conversation.recorder?.asked?.(turn, this.#last);
  }

  /** Ends the call from our side on an open turn: see {@link Farewell.transfer}. */
  leave(turn: Turn, end: SessionEnd): void {
    this.#add(() => this.#farewell.transfer(this.#delivery(turn), end));
  }

  /** See {@link Farewell.settle}. */
  settle(turn: Turn): void {
    this.#add(() => this.#farewell.settle(this.#delivery(turn)));
  }

  /** Notifies a bot that has a handler for the event. After the end of the call, a bot gets only the end event. */
  notify(event: NotifyingEvent, turn: NamedTurn): void {
    const { bot, isEnded } = this.#conversation;
    if (!bot.notes.has(event.type) || isEnded) return;
    this.#add(async () => {
      if (!this.#conversation.hasFarewell) await notify(this.#parts, this.#conversation, event, turn);
    });
  }

  /** The call goes on in another process: closes the bot's resource for the call here. */
  moved(): void {
    this.#add(() => this.#conversation.live.close('moved'));
  }

  /** Sends the bot its last event, closes its resource for the call, and drops its state. */
  end(by: SessionEnd): void {
    const conversation = this.#conversation;
    const { call, bot } = conversation;
    const id = `${call.conversationId}#end`;
    this.#add(async () => {
      if (bot.notes.has('session_end'))
        await notify(this.#parts, conversation, { type: 'session_end', by }, { id, logIds: logIds(call, { id }) });
      await conversation.live.close(by === 'failed' ? 'failed' : 'ended');
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
      // A failing log must not stop this queue.
      .catch(() => undefined)
      .finally(() => {
        this.#size -= 1;
      });
  }

  /** @param completeAtMs - since when the caller has been waiting, monotonic ms; default: now. */
  #delivery(turn: Turn, completeAtMs = this.#parts.clock.monotonicMs()): Delivery {
    const conversation = this.#conversation;
    const { clock, observer, settings, voice, hurry } = this.#parts;
    const writer = new ReplyWriter({
      ...{ turn, conversation, settings, voice, clock, hurry, speaks: conversation.bot.speaks ?? {} },
      onFirstAudio: (synthesisMs) => {
        observer.replyStarted?.(conversation.call, turn.id, clock.monotonicMs() - completeAtMs, synthesisMs);
      },
    });
    return { conversation, turn, writer };
  }

  async #answer(delivery: Delivery, input: CompleteInput): Promise<void> {
    const decided = this.#decided(delivery);
    await (decided ?? this.#spoken(delivery, input, await this.#asked(delivery, input)));
  }

  /** Answers without the bot, by priority; undefined: the bot must be asked. */
  #decided(delivery: Delivery): Promise<void> | undefined {
    const { conversation, turn } = delivery;
    const { repliedTo, reply } = conversation.snapshot;
    if (conversation.isOver) return this.#farewell.settle(delivery);
    // A turn that is already completed cannot deliver a farewell.
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
    // A reply on a turn that was cut before its first prompt is not heard.
    if (outcome.kind !== 'abandoned' && (!turn.wanted.isAborted || turn.hasSpoken)) conversation.waitingSinceMs = undefined;
    return outcome;
  }

  #spoken(delivery: Delivery, { cut }: CompleteInput, outcome: Outcome): Promise<void> {
    const { conversation, turn, writer } = delivery;
    const { observer } = this.#parts;
    if ((outcome.kind === 'abandoned' || outcome.kind === 'failed') && writer.hasSaid) conversation.recorder?.questionLost?.(turn);
    switch (outcome.kind) {
      case 'answer':
        return this.#speak(delivery, outcome);
      case 'failed':
        observer.botFailed?.(conversation.call, turn.id, outcome.error);
        return this.#speak(delivery, { answer: this.#excuse(conversation), event: outcome.event, hasFailed: true });
      case 'abandoned':
        // A barge-in or a hang-up came while the bot was busy.
        return this.#listenOn(delivery, [], conversation.snapshot.listen, 'interrupted');
      case 'false_interruption':
        observer.promptResumed?.(conversation.call, turn.id);
        return this.#goOn(delivery, cut);
    }
  }

  /**
   * After a false interruption the prompts resume from a little before the cut, or start again if their audio is at the previous
   * home.
   */
  async #goOn(delivery: Delivery, cut: Cut | undefined): Promise<void> {
    const { listen, reply } = delivery.conversation.snapshot;
    const isHere = cut !== undefined && cut.rest.length > 0;
    if (isHere) await delivery.writer.resume(cut);
    const prompts = isHere || reply === undefined ? [] : replyOf(reply).prompts;
    await this.#listenOn(delivery, prompts, listen, 'replied', !isHere);
  }

  /** The previous home had answered this turn and died before the turn's end: repeats the reply without asking the bot. */
  async #sayAgain(delivery: Delivery, kept: SavedReply | undefined): Promise<void> {
    const { conversation, turn } = delivery;
    this.#parts.observer.replyRepeated?.(conversation.call, turn.id);
    // A reply too large for the snapshot is lost: the caller is asked again.
    const { prompts } = kept === undefined ? say(linesOf(this.#parts.settings, conversation.bot).apology).listen() : replyOf(kept);
    await this.#listenOn(delivery, prompts, conversation.snapshot.listen, 'replied', true);
  }

  async #speak(delivery: Delivery, { answer: { state, reply }, event, early = [], hasFailed = false }: Answered): Promise<void> {
    const { conversation, turn, writer } = delivery;
    const { snapshot } = conversation;
    const { settings } = this.#parts;
    const { next, prompts } = reply;
    if (next.kind === 'listen' && next.sensitive === true) {
      // If the home dies during the question, the turn counts as unanswered, but the caller may have heard a sensitive question.
      conversation.snapshot = { ...snapshot, sensitive: true, lastWasSensitive: true };
      this.#save(conversation);
    }
    const before = turn.forwardedId === undefined ? undefined : conversation.snapshotNow(this.#parts);
    const isEnd = next.kind !== 'listen';
    const isSensitive = isSensitiveInput(snapshot, event);
    const isWoken = event?.type === 'woken';
    if (isWoken) conversation.wakes.answered();
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
      misses: isWoken ? snapshot.misses : event?.type === 'no_input' ? snapshot.misses + 1 : 0,
      silentMs: isWoken && early.length + prompts.length === 0 ? event.silentMs : 0,
      sensitive: snapshot.sensitive || (!isEnd && next.sensitive === true),
      lastWasSensitive: isSensitive,
      transcript,
      turns: snapshot.turns + 1,
      ended: isEnd,
    };
    conversation.recorder?.answered(turn, state, isSensitive);
    if (isEnd) {
      // Saved now, because the farewell takes seconds and another home must know that the call ends.
      this.#save(conversation);
      const end = hasFailed ? 'failed' : endOf(next);
      await this.#farewell.say(delivery, prompts, { next: lastNext(next, settings, transcript), end }, hasFailed ? 'failed' : 'replied');
      return;
    }
    const isRestOpen = isSensitive && turn.wanted.isAborted && !writer.hasSaid;
    const asked = isRestOpen ? { ...next, sensitive: true } : next;
    try {
      await this.#listenOn(delivery, prompts, asked, hasFailed ? 'failed' : 'replied', true);
    } finally {
      // Saved after the prompts were sent: if a home dies before, the input counts as unanswered.
      this.#save(conversation);
      if (before !== undefined) void this.#takeBackUnlessDelivered(delivery, before);
    }
  }

  /**
   * Undoes an answer that was lost with the forwarding process: the platform then sends the input again through
   * another process.
   */
  async #takeBackUnlessDelivered({ conversation, turn }: Delivery, before: Snapshot): Promise<void> {
    const { snapshot } = conversation;
    const isDelivered = (await turn.delivered?.()) ?? true;
    if (isDelivered || !conversation.takeBack(snapshot, before, this.#parts)) return;
    this.#listensFor(before.listen);
    this.#save(conversation);
  }

  /**
   * Speaks and listens again; if the server is ending the call, transfers the caller instead.
   *
   * @param isKept - whether the bot's state includes this reply: then prompts that are not heard must be reported to the bot as unheard.
   */
  async #listenOn(
    { conversation, turn, writer }: Delivery,
    prompts: readonly Prompt[],
    next: Listen,
    end: TurnEnd,
    isKept = false,
  ): Promise<void> {
    const { playout } = conversation;
    const timed = this.#timed(next);
    if (isKept) this.#listensFor(next, timed);
    const isDone = await writer.finish(prompts, finalNext(timed, this.#parts.settings.listen), false, end === 'failed');
    conversation.listeningSinceMs = this.#parts.clock.monotonicMs();
    if (!isDone || turn.wanted.isAborted) {
      if (writer.hasSaid) playout.dropped();
      else playout.unspoken(isKept);
    }
    if (!isDone && !turn.over.isAborted && conversation.leaving !== undefined)
      await this.#farewell.transfer({ conversation, turn, writer }, conversation.leaving);
    else turn.finish(end === 'replied' && turn.wanted.isAborted ? 'interrupted' : end);
  }

  /** Passes a listen on to the platform's settings and to the audio listener. */
  #listensFor(listen: Listen, timed = this.#timed(listen)): void {
    const { settings } = this.#parts;
    this.#callerAudio.expect(listeningPatience(listen, this.#conversation.bot, settings));
    this.#conversation.asked = listenSettings(timed, settings.listen);
  }

  #timed(listen: Listen): Listen {
    const { bot, snapshot } = this.#conversation;
    return bot.woken === undefined ? listen : timedListen(listen, { bot, silentMs: snapshot.silentMs }, this.#parts.settings.listen);
  }

  #save(conversation: Conversation): void {
    if (this.#parts.snapshots.isShared) conversation.save(this.#parts);
  }

  /** The saved form of a reply; undefined when no other process could ever repeat the reply. */
  #kept(reply: Reply): SavedReply | undefined {
    return this.#parts.snapshots.isShared ? savedReply(reply, this.#parts.settings.maxStateBytes) : undefined;
  }

  #excuse({ snapshot, bot }: Conversation): Answer<JsonValue> {
    const { apology, transfer: transferPrompt } = linesOf(this.#parts.settings, bot);
    const { state, failures, listen } = snapshot;
    if (failures + 1 >= FAILURES_BEFORE_TRANSFER) return { state, reply: say(transferPrompt).transfer({ reason: 'failed' }) };
    // After the apology the caller answers the last question again.
    return { state, reply: { ...say(apology).listen(), next: listen } };
  }
}

/** A listen without its flow event, which is sent only once and may repeat a sensitive input (G-83). */
function withoutEvent({ event: _, ...listen }: Listen): Listen {
  return listen;
}
