// The messages of a page, checked.
import { z } from 'zod';
import { KEYS } from '../caller/key.ts';
import { LINE_QUALITIES } from './line-quality.ts';
import type { FromPage, LineQuality } from './softphone-api.ts';

export const QUALITIES = Object.keys(LINE_QUALITIES) as [LineQuality, ...LineQuality[]];

export const FROM_PAGE = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call'),
    agentId: z.string().max(200),
    transport: z.enum(['grpc', 'websocket']),
    line: z.enum(QUALITIES),
    again: z.boolean(),
  }),
  z.strictObject({ type: z.literal('say'), text: z.string().trim().min(1).max(1000) }),
  z.strictObject({ type: z.literal('press'), key: z.enum(KEYS) }),
  z.strictObject({ type: z.literal('hang_up') }),
]) satisfies z.ZodType<FromPage>;
