// What bots with a language model import: `import { assistant, tool, z } from 'parley-voice/ai'`.
export { z } from 'zod';
export { assistant, type AssistantBotOptions } from './assistant.ts';
export { assistantStep, type AssistantStep, type AssistantTalk } from './assistant-step.ts';
export { chatModel, type ChatModelOptions } from './chat-model.ts';
export type { AssistantMessage, CallerMessage, Message, ToolMessage, ToolOutcome } from './history.ts';
export type { LanguageModel, ModelSettings } from './model.ts';
export type { AssistantLimits, AssistantManners, AssistantOptions, AssistantState, AssistantTurn, TransferRule } from './options.ts';
export type { Phrases } from './phrases.ts';
export type { ModelBudget, ModelCall, ModelFailure, TurnReport } from '../dialog/turn-report.ts';
export type { PreparedAnswer } from './prepared-answer.ts';
export { realtime, type RealtimeBotOptions } from './realtime/realtime.ts';
export { realtimeStep, type RealtimeOptions, type RealtimeStep } from './realtime/realtime-step.ts';
export { exit, keyed, tool, type Exit, type KeyedTool, type Tool, type ToolContext, type ToolDefinition } from './tool.ts';
export { scripted, type ScriptedAnswer, type ScriptedModel } from './scripted-model.ts';
