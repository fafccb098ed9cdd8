import { beforeAll, describe, expect, it } from 'vitest';
import { loadSignalModules } from '../../../src/app/signal-engines.ts';
import { FRAME_SAMPLES } from '../../../src/speech/audio-format.ts';
import { decodeMulaw } from '../../../src/speech/g711.ts';
import { HalfRateLine } from '../../../src/speech/half-rate.ts';
import { isKeyTone } from '../../../src/speech/key-tones.ts';
import { LevelGate, QUIET_POWER } from '../../../src/speech/level-gate.ts';
import { detectorMaker, type CreateDetector, type FvadModule, type VoiceDetector } from '../../../src/speech/vad.ts';
import { Voicing, VOICING_FRAMES } from '../../../src/speech/voicing.ts';
import { speechBounds } from '../../support/listening.ts';
import { hum, joined, mixed, noise, recorded, signal, silence } from '../../support/line-signals.ts';

let module: FvadModule;
let createDetector: CreateDetector;

beforeAll(async () => {
  module = (await loadSignalModules()).fvad;
  createDetector = detectorMaker(module);
});

/** The decisions on all whole frames of a caller who has not begun to speak, or of one who speaks from some frame on. */
function decide(detector: VoiceDetector, mulaw: Uint8Array, hearingFrom = Infinity): boolean[] {
  const samples = decodeMulaw(mulaw);
  return Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, n) =>
    detector.isSpeech(samples.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES), n >= hearingFrom),
  );
}

/** How many frames a fresh detector takes for speech. */
function speechFrames(mulaw: Uint8Array): number {
  const detector = createDetector();
  const count = decide(detector, mulaw).filter(Boolean).length;
  detector.close();
  return count;
}

describe('what is no voice', () => {
  it.each([
    ['the silence of a µ-law line', () => silence(5000)],
    ['the other zero of µ-law', () => silence(5000, 0x7f)],
    ['both zeros in turns', () => silence(5000).map((code, index) => (index % 2 === 0 ? 0x7f : code))],
    ['a low hum', () => hum(5000, -35)],
    ['a loud hum', () => hum(5000, -20)],
    ['quiet white noise', () => noise(5000, -55)],
    ['white noise as loud as a quiet caller', () => noise(5000, -38)],
    ['hum that begins in the middle of silence', () => joined(silence(1000), hum(4000, -35))],
  ])('hears none in %s', (_, make) => {
    expect(speechFrames(make())).toBe(0);
  });

  it('hears at most a few frames in a click', () => {
    const click = signal(5, (index) => (index % 2 === 0 ? 0.9 : -0.9));
    expect(speechFrames(joined(silence(1000), click, silence(1000)))).toBeLessThanOrEqual(2);
  });

  it('hears at most the first frames of a noise that sets in', () => {
    expect(speechFrames(joined(silence(1000), noise(4000, -40)))).toBeLessThanOrEqual(4);
  });
});

describe('what vocal cords do not make', () => {
  it.each([0, 5, 10, 15])('hears hardly a frame in the tone of a pressed key %d', (key) => {
    const [low = 0, high = 0] = [[697, 770, 852, 941][Math.floor(key / 4)], [1209, 1336, 1477, 1633][key % 4]];
    const tone = signal(300, (n) => 0.2 * (Math.sin((2 * Math.PI * low * n) / 8000) + Math.sin((2 * Math.PI * high * n) / 8000)));
    expect(speechFrames(joined(silence(1003), tone, silence(504), tone, silence(1000)))).toBeLessThanOrEqual(2);
  });

  it('hears a voice again two frames after a key', () => {
    const tone = signal(200, (n) => 0.2 * (Math.sin((2 * Math.PI * 770 * n) / 8000) + Math.sin((2 * Math.PI * 1336 * n) / 8000)));
    const { startMs } = speechBounds(recorded('sentence'));
    const decisions = decide(createDetector(), joined(silence(1000), tone, recorded('sentence').subarray((startMs + 100) * 8)));
    expect(decisions.slice(0, 61).filter(Boolean).length).toBeLessThanOrEqual(1);
    expect(decisions.indexOf(true, 61)).toBeLessThanOrEqual(63);
  });

  it('hears nothing in breath or a cough without a voice', () => {
    const burst = noise(250, -12);
    const fading = joined(...[0, 1, 2, 3, 4].map((step) => noise(50, -12 - 4 * step, step + 1)));
    for (const sound of [burst, fading]) expect(speechFrames(joined(silence(1000), sound, silence(1000)))).toBeLessThanOrEqual(2);
  });

  it('lets the sounds without a voice of a word through for 300 ms after a voiced one', () => {
    const { endMs } = speechBounds(recorded('yes'));
    const hiss = joined(silence(1000), recorded('yes').subarray(0, endMs * 8), noise(1000, -20));
    const decisions = decide(createDetector(), hiss, 60);
    const hissFrom = 50 + endMs / 20;
    expect(decisions.slice(hissFrom + 16).some(Boolean)).toBe(false);
  });
});

describe('looking for a voiced frame only when the answer depends on it', () => {
  /** The decisions if every loud frame were looked at for what the cords made. */
  function decideByAll(mulaw: Uint8Array): boolean[] {
    const [gate, line, handle, address] = [new LevelGate(), new HalfRateLine(VOICING_FRAMES), module._fvad_new(), module._malloc(320)];
    const voicing = new Voicing(line);
    module._fvad_set_mode(handle, 3);
    const samples = decodeMulaw(mulaw);
    let [wasKey, voicedAt] = [false, -Infinity];
    return Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, n) => {
      const frame = samples.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES);
      line.push(frame);
      module.HEAP16.set(frame, address >> 1);
      const isLoud = gate.admits(line.power, false);
      const isVoice = line.power >= QUIET_POWER && module._fvad_process(handle, address, FRAME_SAMPLES) === 1;
      const isKey = isLoud && isVoice && isKeyTone(frame, line.power, line.brightness);
      const isAsked = isLoud && isVoice && !isKey && !wasKey;
      if (isAsked && voicing.strength() >= 0.65) voicedAt = n;
      const isSpeech = isAsked && n - voicedAt < 15;
      wasKey = isKey;
      gate.follow(isSpeech, false);
      return isSpeech;
    });
  }

  it.each([
    ['speech with pauses', () => joined(silence(400), recorded('number'), recorded('sentence'), silence(500), recorded('yes'))],
    ['speech in noise', () => mixed(noise(9000, -38), joined(silence(1000), recorded('number'), silence(500), recorded('sentence')))],
    ['vowels that end in a long hiss, again and again', () => joined(...[280, 300, 320, 340, 700].flatMap(vowelAndHiss))],
    ['keys among words', () => joined(recorded('yes'), key(100), recorded('yes').subarray(0, 4000), key(60), noise(300, -20))],
  ])('answers as if it had looked at all of them: %s', (_, make) => {
    const line = make();
    const expected = decideByAll(line);
    expect(expected).toContain(true);
    expect(expected).toContain(false);
    expect(decide(createDetector(), line)).toEqual(expected);
  });

  const key = (ms: number): Uint8Array =>
    signal(ms, (n) => 0.2 * (Math.sin((2 * Math.PI * 770 * n) / 8000) + Math.sin((2 * Math.PI * 1336 * n) / 8000)));
  const vowelAndHiss = (hissMs: number): Uint8Array[] => [recorded('yes').subarray(1600, 4000), noise(hissMs, -22, hissMs), silence(200)];
});

describe('asking the detector behind the gate', () => {
  /** How often it is asked about a caller who speaks from some frame on. */
  function timesAsked(mulaw: Uint8Array, hearingFrom: number): number {
    let times = 0;
    const counting: FvadModule = {
      ...module,
      // The memory grows, so its view must be taken anew.
      get HEAP16() {
        return module.HEAP16;
      },
      _fvad_process: (...args) => {
        times += 1;
        return module._fvad_process(...args);
      },
    };
    decide(detectorMaker(counting)(), mulaw, hearingFrom);
    return times;
  }

  const frames = (mulaw: Uint8Array): number => Math.floor(mulaw.length / FRAME_SAMPLES);
  const spoken = recorded('sentence');

  it('is not done on a quiet line, and for every frame while the caller has not begun', () => {
    expect(timesAsked(silence(2000), Infinity)).toBe(0);
    const line = mixed(noise(4000, -47), spoken);
    expect(timesAsked(line, Infinity)).toBe(frames(line));
  });

  it('is done for half the frames at most of a caller who speaks on a quiet line, and for all of a hiss that follows', () => {
    const line = joined(silence(400), spoken);
    const times = timesAsked(line, 40);
    expect(times).toBeLessThan(frames(spoken) / 2);
    const hiss = noise(3000, -22);
    expect(timesAsked(joined(line, hiss), 40) - times).toBeGreaterThan(frames(hiss) - 16);
  });

  it('is done for every frame of a caller who is less than 20 dB above the line', () => {
    const line = mixed(noise(5000, -38), joined(silence(1000), spoken));
    expect(timesAsked(line, 60)).toBe(frames(line));
  });
});

describe('what is a voice', () => {
  it.each(['sentence', 'number', 'yes'] as const)('hears the speech of %s on a silent line within 60 ms', (name) => {
    const speech = recorded(name);
    const line = joined(silence(1000), speech);
    const decisions = decide(createDetector(), line, decide(createDetector(), line).indexOf(true) + 5);
    const before = decisions.slice(0, 50);
    expect(before.some(Boolean)).toBe(false);
    const loud = Array.from({ length: Math.floor(speech.length / FRAME_SAMPLES) }, (_, n) => {
      const samples = decodeMulaw(speech.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES));
      // Voiced sounds of the fixtures, which lie around -26 dBFS.
      return Math.hypot(...samples) / Math.sqrt(FRAME_SAMPLES) > 32_768 * 10 ** (-34 / 20);
    });
    const first = decisions.indexOf(true) - 50;
    expect(first - loud.indexOf(true)).toBeLessThanOrEqual(3);
    const heard = loud.filter((isLoud, n) => isLoud && decisions[50 + n] === true).length;
    expect(heard / loud.filter(Boolean).length).toBeGreaterThan(0.95);
  });

  it('hears a sentence over white noise 15 dB below it', () => {
    const line = mixed(noise(4400, -41), joined(silence(1000), recorded('sentence')));
    const decisions = decide(createDetector(), line);
    expect(decisions.slice(0, 50).filter(Boolean).length).toBe(0);
    expect(decisions.slice(50).filter(Boolean).length).toBeGreaterThan(60);
  });
});

describe('a detector', () => {
  it('gives the same answers after reset as when it was new', () => {
    const used = createDetector();
    const line = joined(silence(300), recorded('yes'));
    const first = decide(used, line);
    decide(used, noise(3000, -30));
    used.reset();
    expect(decide(used, line)).toEqual(first);
    used.close();
  });

  it('does not mix its line with that of another detector', () => {
    const speech = joined(silence(300), recorded('yes'));
    const alone = decide(createDetector(), speech);
    const [one, two] = [createDetector(), createDetector()];
    const other = noise(speech.length / 8, -30);
    const together = Array.from({ length: Math.floor(speech.length / FRAME_SAMPLES) }, (_, n) => {
      const part = [n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES] as const;
      decide(two, other.subarray(...part));
      return decide(one, speech.subarray(...part))[0];
    });
    expect(together).toEqual(alone);
  });

  it('hears nothing once it is closed, and may be closed twice', () => {
    const detector = createDetector();
    detector.close();
    detector.close();
    detector.reset();
    expect(decide(detector, recorded('yes')).some(Boolean)).toBe(false);
  });

  it('keeps the memory of the module flat over 10,000 of them', () => {
    createDetector().close();
    const bytes = module.HEAP16.byteLength;
    const address = module._malloc(16);
    for (let round = 0; round < 10_000; round += 1) createDetector().close();
    expect(module.HEAP16.byteLength).toBe(bytes);
    // The allocator would have moved on if something had been left behind.
    expect(Math.abs(module._malloc(16) - address)).toBeLessThan(4096);
  });

  it('goes on hearing after the memory of the module grew', () => {
    const detector = createDetector();
    const line = joined(silence(300), recorded('yes'));
    const before = decide(detector, line);
    const bytes = module.HEAP16.byteLength;
    module._malloc(bytes);
    expect(module.HEAP16.byteLength).toBeGreaterThan(bytes);
    detector.reset();
    expect(decide(detector, line)).toEqual(before);
  });

  it('reports overloaded when the module has no memory left', () => {
    const address = 16;
    const full: FvadModule = { ...module, HEAP16: module.HEAP16, _malloc: () => address, _fvad_new: () => 0 };
    expect(detectorMaker(full)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    expect(() => detectorMaker({ ...full, _malloc: () => 0 })).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });
});
