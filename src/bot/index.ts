// What bot modules import: `import { bot, go, say } from 'parley-voice'`.
export { bot } from './bot.ts';
export type {
  AfterReply,
  BargeIn,
  Bot,
  BotContext,
  BotDefinition,
  CallerEvent,
  CustomEvent,
  DtmfInput,
  Handled,
  HearingEvent,
  NoInput,
  Noted,
  PrepareEvent,
  SessionEnded,
  SessionStart,
  SpeechInput,
  TurnEnded,
  TurnStarted,
} from './bot.ts';
export type { Fillers } from './fillers.ts';
export type { BotEar, Live, LiveContext, LiveEnd } from './live.ts';
export { end, go, keep, ladder, listen, play, say, transfer } from './saying.ts';
export { SentenceCutter, type CutOptions } from './sentence-cutter.ts';
export { speak, type SpeakOptions } from './speak.ts';
export type { Answer, EndOptions, Keep, KeepOptions, ListenOptions, PromptOptions, Saying, SayOptions, TransferOptions } from './saying.ts';
export type { Woken } from './wakes.ts';
export type { CallFacts } from '../dialog/call.ts';
export type { Heard, HeardPart } from '../dialog/heard.ts';
export type { FlowEvent, Reply } from '../dialog/reply.ts';
export type { ModelBudget, ModelCall, ModelFailure, TurnReport } from '../dialog/turn-report.ts';
export type { SpeechPatience } from '../speech/patience.ts';
export type { Utterance } from '../dialog/utterance.ts';
