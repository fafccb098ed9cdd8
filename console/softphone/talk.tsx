// What the caller says: by microphone, typed, or from a recording.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Levels, PhoneLine } from './phone-line.ts';

/** Longest recording that the softphone takes, bytes. */
const MAX_WAV_BYTES = 20_000_000;

interface TalkProps {
  readonly line: PhoneLine | undefined;
  readonly onProblem: (problem: string) => void;
  readonly children: ComponentChildren;
}

export function Talk({ line, onProblem, children }: TalkProps) {
  return (
    <div class="talk">
      {children}
      <div class="levels">
        <Level line={line} />
        <Mute line={line} />
      </div>
      <Words line={line} onProblem={onProblem} />
    </div>
  );
}

const SILENT: Levels = { microphone: 0, heard: 0 };

/** A component of its own, because it is drawn anew with every frame. */
function Level({ line }: Pick<TalkProps, 'line'>) {
  const [levels, setLevels] = useState(SILENT);
  useEffect(() => {
    setLevels(SILENT);
    if (line === undefined) return;
    line.onLevel = (side, level) => setLevels((now) => (now[side] === level ? now : { ...now, [side]: level }));
  }, [line]);
  return (
    <>
      <label>
        Your voice <meter value={levels.microphone} />
      </label>
      <label>
        Bot’s voice <meter value={levels.heard} />
      </label>
    </>
  );
}

function Mute({ line }: { readonly line: PhoneLine | undefined }) {
  const [isMuted, setIsMuted] = useState(false);
  useEffect(() => setIsMuted(false), [line]);
  const toggle = (): void => {
    if (line === undefined) return;
    line.isMuted = !isMuted;
    setIsMuted(!isMuted);
  };
  return (
    <button type="button" aria-pressed={isMuted} disabled={line === undefined} onClick={toggle}>
      Mute
    </button>
  );
}

function Words({ line, onProblem }: Pick<TalkProps, 'line' | 'onProblem'>) {
  const [text, setText] = useState('');
  const file = useRef<HTMLInputElement>(null);
  const isOff = line === undefined;
  return (
    <form
      class="words"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        line?.say(text);
        setText('');
      }}
    >
      <input
        class="said"
        aria-label="What the caller says"
        placeholder="Type what the caller says"
        maxLength={1000}
        value={text}
        disabled={isOff}
        onInput={({ currentTarget: { value } }) => setText(value)}
      />
      <button disabled={isOff}>Say</button>
      <button type="button" disabled={isOff} title="Or drop one anywhere on this page" onClick={() => file.current?.click()}>
        Play a WAV
      </button>
      <input
        ref={file}
        type="file"
        accept=".wav,audio/wav"
        hidden
        onChange={({ currentTarget }) => {
          void speakFile(currentTarget.files?.[0], line, onProblem);
          currentTarget.value = '';
        }}
      />
    </form>
  );
}

/** Speaks a recording of the person. */
export async function speakFile(file: File | undefined, line: PhoneLine | undefined, onProblem: TalkProps['onProblem']): Promise<void> {
  if (file === undefined) return;
  if (line === undefined) onProblem('Call first, then drop a recording.');
  else if (file.size > MAX_WAV_BYTES) onProblem(`${file.name} is larger than ${String(MAX_WAV_BYTES)} bytes.`);
  else line.speak(await file.arrayBuffer());
}
