// The one door for bot modules: `import { bot, go, say } from '#bot'`.
export { bot } from './bot.ts';
export type {
  BargeIn,
  Bot,
  BotContext,
  BotDefinition,
  CallerEvent,
  CustomEvent,
  DtmfInput,
  Handled,
  NoInput,
  Noted,
  SessionEnded,
  SessionStart,
  SpeechInput,
  TurnEnded,
  TurnStarted,
} from './bot.ts';
export { end, go, listen, play, say, transfer } from './saying.ts';
export type { Answer, ListenOptions, PromptOptions, Saying, TransferOptions } from './saying.ts';
export type { CallFacts } from '../dialog/call.ts';
export type { Reply } from '../dialog/reply.ts';
export type { Utterance } from '../dialog/utterance.ts';
