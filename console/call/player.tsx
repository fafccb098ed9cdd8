// Plays and stops the sound of a call, and leaves out a side of it.
import { useEffect, useState } from 'preact/hooks';
import type { CallSound } from './call-sound.ts';
import { shownTime } from './shown-time.ts';

export function Player({ sound, goesOn }: { readonly sound: CallSound; readonly goesOn: boolean }) {
  const [, setChanges] = useState(0);
  useEffect(() => sound.onChange(() => setChanges((count) => count + 1)), [sound]);
  if (!sound.hasSound) return <p class="soft">{goesOn ? 'There is no sound before the call has ended.' : 'There is no sound to play.'}</p>;
  return (
    <div class="player">
      <button type="button" class="main" onClick={() => sound.toggle()}>
        {sound.isPlaying ? 'Pause' : 'Play'}
      </button>
      <span>
        <b>{shownTime(sound.atMs)}</b> <span class="soft">of {shownTime(sound.durationMs)}</span>
      </span>
      {sound.hasFailed && (
        <span role="alert" class="bad">
          The sound cannot be played.
        </span>
      )}
      {(['caller', 'bot'] as const).map((side) => (
        <label key={side}>
          <input type="checkbox" checked={!sound.isMuted(side)} onChange={(event) => sound.mute(side, !event.currentTarget.checked)} />
          {side === 'caller' ? 'Caller' : 'Bot'}
        </label>
      ))}
    </div>
  );
}
