// The page of `parley dev`: a phone that calls the bots of this project, and what happens on the call.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallView } from '../src/dialog/call-view.ts';
import type { Choices, WantedCall } from '../src/fake-platform/softphone/softphone-api.ts';
import { Call } from './call/call.tsx';
import './look.css';
import { Comparison } from './softphone/comparison.tsx';
import { Dial, type Wanted } from './softphone/dial.tsx';
import { Keypad } from './softphone/keypad.tsx';
import { PhoneLine } from './softphone/phone-line.ts';
import './softphone/softphone.css';
import { speakFile, Talk } from './softphone/talk.tsx';

function Softphone() {
  const [choices, setChoices] = useState<Choices>();
  const [wanted, setWanted] = useState<Wanted>({ agentId: '', transport: 'grpc', line: 'good', usesMicrophone: true });
  const [line, setLine] = useState<PhoneLine>();
  const [status, setStatus] = useState('Ready');
  const [happened, setHappened] = useState('');
  const [problem, setProblem] = useState('');
  /** Why calls may not be as expected, whatever happens on them. */
  const [trouble, setTrouble] = useState('');
  const [view, setView] = useState<CallView>();
  const [before, setBefore] = useState<CallView>();
  const lastCall = view?.call.conversationId ?? choices?.lastCall;

  const ask = async (): Promise<void> => {
    try {
      const asked = (await (await fetch('choices')).json()) as Choices;
      const first = asked.bots.find(({ isDefault }) => isDefault) ?? asked.bots[0];
      setChoices(asked);
      // The chosen bot may have gone.
      setWanted((now) => (asked.bots.some(({ id }) => id === now.agentId) ? now : { ...now, agentId: first?.id ?? '' }));
      setTrouble(asked.problem ?? '');
    } catch {
      setTrouble('The server is gone: is parley dev still running?');
    }
  };
  useEffect(() => {
    const askNow = (): void => void ask();
    askNow();
    // A person comes back from the editor.
    addEventListener('focus', askNow);
    return () => removeEventListener('focus', askNow);
  }, []);

  const call = (again?: string): void => {
    const { usesMicrophone, ...choice } = wanted;
    const asked: WantedCall = { type: 'call', ...choice, again };
    setStatus('Calling');
    setHappened('');
    setProblem('');
    setBefore(again === undefined ? undefined : view);
    setView(undefined);
    void ask();
    setLine(
      new PhoneLine(asked, usesMicrophone && again === undefined, {
        onEvent: ({ who, what, detail = '' }) => {
          setStatus('In call');
          setHappened(`${who} ${what.replaceAll('_', ' ')} ${detail}`);
        },
        onView: setView,
        onProblem: setProblem,
        onOver: (outcome, message) => {
          setLine(undefined);
          setStatus(`Call over: ${outcome.replaceAll('_', ' ')}`);
          setHappened('');
          if (message !== undefined) setProblem(message);
          void ask();
        },
      }),
    );
  };

  // What a person does before the call has begun would be lost.
  const begun = status === 'In call' ? line : undefined;
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    void speakFile(event.dataTransfer?.files[0], begun, setProblem);
  };
  return (
    <main class="softphone" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <section class="phone" aria-label="Phone">
        <Dial choices={choices} wanted={wanted} line={line} lastCall={lastCall} onWanted={setWanted} onCall={call} />
        <Keypad line={begun} />
        <Talk line={begun} onProblem={setProblem}>
          <p>
            <strong role="status">{status}</strong> <span class="soft">{happened}</span>
          </p>
          <p class="bad" role="alert">
            {[trouble, problem].filter((text) => text !== '').join('\n')}
          </p>
        </Talk>
      </section>
      {before !== undefined && view !== undefined && <Comparison before={before} now={view} />}
      {view !== undefined && <Call key={view.call.conversationId} view={view} />}
      {view === undefined && line === undefined && <FirstSteps />}
    </main>
  );
}

function FirstSteps() {
  return (
    <p class="soft">
      Choose a bot and call it. Everything that happens on the call appears here: turns and messages, sound, state, log, and where the time
      to each answer went. A change of a bot counts from the next call on; “Same caller again” shows what it did.
    </p>
  );
}

const page = document.getElementById('page');
if (page !== null) render(<Softphone />, page);
