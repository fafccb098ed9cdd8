import { describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';

describe('the signal engines', () => {
  it('load a detector and a resampler that work at once', async () => {
    const { createDetector, createResampler } = await loadSignalEngines();
    const detector = createDetector();
    expect(detector.isSpeech(new Int16Array(160), false)).toBe(false);
    detector.close();
    const resampler = createResampler(16_000, 8000);
    expect(resampler.push(new Int16Array(3200)).length + resampler.flush().length).toBe(1600);
    resampler.close();
  });
});
