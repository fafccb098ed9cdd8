// What evaluations of bots import: `import { evaluate } from 'parley-voice/evaluation'`. No part of a server.
export { evaluate, type EvaluationOptions } from './evaluate.ts';
export type { Evaluated, EvaluatedRun } from './evaluated.ts';
export type { Persona, SpokenLine } from './persona.ts';
export type { Judge, RunEnd, RunExpectations, ToolExpectation } from './verdict.ts';
export type { UsedTool } from '../../bot/test-tools.ts';
