// What evaluations of bots import: `import { evaluate } from 'parley-voice/evaluation'`. No part of a server.
export { evaluate, type Evaluated, type EvaluatedRun, type EvaluationOptions } from './evaluate.ts';
export type { Persona, SpokenLine } from './persona.ts';
export type { Judge, RunEnd, RunExpectations } from './verdict.ts';
export type { UsedTool } from '../../bot/testing.ts';
