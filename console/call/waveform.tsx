// The picture of a call with its playhead: click or keys seek, the wheel and the strip below move the window.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../src/dialog/call-view.ts';
import type { CallSound } from './call-sound.ts';
import { shownTime } from './shown-time.ts';
import { drawOverview, drawPicture, OVERVIEW_HEIGHT, PICTURE_HEIGHT, type Colours, type Window } from './waveform-drawing.ts';
import { pictureOf, type Mark, type Picture } from './waveform-parts.ts';
import './waveform.css';

/** The shortest window, ms. */
const LEAST_MS = 1000;
/** What is seen at first of a long call, ms. */
const FIRST_MS = 60_000;
/** A mark is as near as that to the pointer, pixels. */
const NEAR = 6;
const KEYS = 'Arrow keys move, + and − zoom, space plays';
const STEPS_MS: Readonly<Record<string, number>> = { ArrowLeft: -1000, ArrowRight: 1000, PageUp: -10_000, PageDown: 10_000 };

interface WaveformProps {
  readonly view: CallView;
  readonly sound: CallSound;
  /** The number of the turn that is chosen. */
  readonly chosen: number | undefined;
  /** What stands before the buttons. */
  readonly children: ComponentChildren;
  /** Somebody chose a place. */
  readonly onSeek: (atMs: number) => void;
}

export function Waveform({ view, sound, chosen, children, onSeek }: WaveformProps) {
  const picture = useMemo(() => pictureOf(view), [view]);
  const whole = Math.max(LEAST_MS, picture.durationMs);
  const [window, setWindow] = useWindow(whole);
  const [near, setNear] = useState<readonly Mark[]>([]);
  const [atMs, setAtMs] = useState(sound.atMs);
  const [width, place] = useWidth();
  const colours = useColours();
  const [main, strip] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];

  const show = (fromMs: number, spanMs = window.spanMs): void => {
    const span = Math.min(Math.max(LEAST_MS, spanMs), whole);
    setWindow({ fromMs: Math.min(Math.max(0, fromMs), whole - span), spanMs: span });
  };
  const zoom = (factor: number, aroundMs = atMs): void => {
    const spanMs = Math.min(Math.max(LEAST_MS, window.spanMs * factor), whole);
    const isIn = aroundMs >= window.fromMs && aroundMs <= window.fromMs + window.spanMs;
    const middle = isIn ? aroundMs : window.fromMs + window.spanMs / 2;
    show(middle - (middle - window.fromMs) * (spanMs / window.spanMs), spanMs);
  };
  const timeAt = (event: MouseEvent, of: Window): number => of.fromMs + (event.offsetX / width) * of.spanMs;

  useEffect(
    () =>
      sound.onChange(() => {
        setAtMs(sound.atMs);
        // The window follows the playhead.
        setWindow((now) =>
          sound.atMs >= now.fromMs && sound.atMs <= now.fromMs + now.spanMs
            ? now
            : { ...now, fromMs: Math.min(Math.max(0, sound.atMs - now.spanMs * 0.1), Math.max(0, whole - now.spanMs)) },
        );
      }),
    [sound, whole],
  );
  useLayoutEffect(() => {
    const [picturing, overviewing] = [prepared(main.current, width, PICTURE_HEIGHT), prepared(strip.current, width, OVERVIEW_HEIGHT)];
    if (picturing !== undefined) drawPicture(picturing, width, picture, window, chosen, colours);
    if (overviewing !== undefined) drawOverview(overviewing, width, picture, window, colours);
  }, [picture, window, chosen, width, colours]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS_MS[event.key];
    if (step !== undefined) onSeek(atMs + step);
    else if (event.key === 'Home') onSeek(0);
    else if (event.key === 'End') onSeek(whole);
    else if (event.key === ' ') sound.toggle();
    else if (event.key === '+') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else return;
    event.preventDefault();
  };
  const onWheel = (event: WheelEvent): void => {
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event, window));
    else if (event.shiftKey || event.deltaX !== 0)
      show(window.fromMs + ((event.deltaX === 0 ? event.deltaY : event.deltaX) / width) * window.spanMs);
    else return;
    event.preventDefault();
  };
  const onOverview = (event: PointerEvent): void => {
    if (event.type === 'pointerdown' || event.buttons === 1) show(timeAt(event, { fromMs: 0, spanMs: whole }) - window.spanMs / 2);
  };
  return (
    <div class="waveform">
      <div class="controls">
        {children}
        <span class="near soft">{near.length === 0 ? KEYS : near.map(inWords).join(' · ')}</span>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" onClick={() => show(0, whole)}>
          Whole call
        </button>
      </div>
      <div class="labels soft" aria-hidden="true">
        <span>Caller</span>
        <span>Answer</span>
        <span>Bot</span>
      </div>
      <div
        ref={place}
        class="picture"
        role="slider"
        tabIndex={0}
        aria-label="Position in the call"
        aria-description={KEYS}
        aria-valuemin={0}
        aria-valuemax={Math.round(whole)}
        aria-valuenow={Math.round(atMs)}
        aria-valuetext={positionInWords(picture, atMs)}
        onKeyDown={onKeyDown}
        onWheel={onWheel}
        onClick={(event) => onSeek(timeAt(event, window))}
        onPointerMove={(event) => setNear(marksNear(picture, timeAt(event, window), (NEAR / width) * window.spanMs))}
        onPointerLeave={() => setNear([])}
      >
        <canvas ref={main} />
        <Playhead left={((atMs - window.fromMs) / window.spanMs) * width} />
      </div>
      <canvas ref={strip} class="overview" onPointerDown={onOverview} onPointerMove={onOverview} />
    </div>
  );
}

function Playhead({ left }: { readonly left: number }) {
  return <div class="playhead" style={{ transform: `translateX(${String(left)}px)` }} />;
}

function inWords({ atMs, text }: Mark): string {
  return `${shownTime(atMs)} ${text}`;
}

function positionInWords({ turns, durationMs }: Picture, atMs: number): string {
  const turn = turns.findLast((each) => each.atMs <= atMs);
  return `${shownTime(atMs)} of ${shownTime(durationMs)}${turn === undefined ? '' : `, turn ${String(turn.number)}`}`;
}

function marksNear({ marks }: Picture, atMs: number, withinMs: number): readonly Mark[] {
  return marks.filter((mark) => Math.abs(mark.atMs - atMs) <= withinMs).slice(0, 3);
}

/** The context of a canvas that is as fine as the screen. */
function prepared(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | undefined {
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null) return undefined;
  const scale = globalThis.devicePixelRatio;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  Object.assign(canvas.style, { width: `${String(width)}px`, height: `${String(height)}px` });
  context.scale(scale, scale);
  return context;
}

/** What is seen of a call of `whole` ms. It grows with a call that goes on, and then follows its end. */
function useWindow(whole: number) {
  const [window, setWindow] = useState<Window>({ fromMs: 0, spanMs: Math.min(whole, FIRST_MS) });
  const before = useRef(whole);
  useEffect(() => {
    const wasMs = before.current;
    before.current = whole;
    if (whole === wasMs) return;
    setWindow(({ fromMs, spanMs }) => {
      const isWhole = spanMs >= wasMs && whole <= FIRST_MS;
      if (isWhole) return { fromMs: 0, spanMs: whole };
      return { fromMs: fromMs + spanMs >= wasMs ? whole - spanMs : fromMs, spanMs };
    });
  }, [whole]);
  return [window, setWindow] as const;
}

/** The width of an element, whole pixels, whatever happens to the window. */
function useWidth() {
  const [width, setWidth] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (place.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    setWidth(Math.floor(place.current.getBoundingClientRect().width));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [width, place] as const;
}

/** The colours of the style sheet, light or dark. */
function useColours(): Colours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const onChange = (): void => setColours(readColours());
    dark.addEventListener('change', onChange);
    return () => dark.removeEventListener('change', onChange);
  }, []);
  return colours;
}

function readColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`);
  return {
    ...{ paper: read('paper'), panel: read('panel'), ink: read('ink'), soft: read('soft'), rule: read('rule'), accent: read('accent') },
    ...{ accentSoft: read('accent-soft'), wave: read('wave'), bad: read('bad'), onAccent: read('on-accent') },
  };
}
