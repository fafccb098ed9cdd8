import { describe, expect, it } from 'vitest';
import { rowInWords, rowsOf } from '../../../console/call/ladder-rows.ts';
import { longCallView, shortCallView } from '../../support/call-views.ts';

describe('the rows of the ladder', () => {
  const view = shortCallView();
  const rows = rowsOf(view);

  it('are all turns, messages, events and log lines in order of time', () => {
    const parts = [view.turns, view.messages ?? [], view.events, view.logs ?? []];
    expect(rows).toHaveLength(parts.reduce((sum, { length }) => sum + length, 0));
    expect(rows.map(({ atMs }) => atMs)).toEqual(rows.map(({ atMs }) => atMs).toSorted((one, other) => one - other));
    expect(rows.map(({ index }) => index)).toEqual([...rows.keys()]);
  });

  it('begin a turn with the turn itself', () => {
    const first = rows.filter(({ atMs }) => atMs === 21_300);
    expect(first.map(({ kind }) => kind)).toEqual(['turn', 'event']);
  });

  it('are problems where the bot failed, the contract check found something, or a log line warns', () => {
    expect(rows.filter(({ isProblem }) => isProblem).map(({ title }) => title)).toEqual([
      ...['VoiceVAResponse', 'warn', 'Turn 5 · “yes, to my mobile, and what does it cost?”', 'bot failed', 'error'],
    ]);
  });

  it('say in words what the picture says', () => {
    const inWords = rows.map(rowInWords);
    expect(inWords).toContain(
      'Turn 2 · “I would like to move my appointment”, Of course. Please key in your date of birth, eight digits. → listen for 8 digits, until #, answer after 1,230 ms, the longest part: endpointing, 500 ms',
    );
    expect(inWords).toContain('message, platform to server: VoiceVARequest, keys, withheld · 40 bytes, turn 3');
    expect(inWords).toContain('event, service: model first token, 308 ms · small-1, turn 2');
  });

  it('never hold what is withheld', () => {
    const [, , third] = view.turns;
    if (third?.input === undefined) throw new Error('no third turn');
    const withheld = {
      ...third,
      input: { ...third.input, text: '19480402' },
      prompts: [{ ...third.prompts[0], text: 'secret', isWithheld: true }],
    };
    const shown = rowsOf({ ...view, turns: [withheld as typeof third] });
    expect(JSON.stringify(shown.map(({ title, detail }) => [title, detail]))).not.toMatch(/19480402|secret/u);
  });

  it('say of a turn without input how it ended, or that it waits', () => {
    const [turn] = view.turns;
    if (turn === undefined) throw new Error('no turn');
    const { input: _, end: __, ...open } = turn;
    const titles = [open, { ...open, end: 'nothing_said' }].map((each) => rowsOf({ ...view, turns: [each], events: [] })[0]?.title);
    expect(titles).toEqual(['Turn 1 · no input yet', 'Turn 1 · nothing said']);
  });

  it('are 20,600 of an hour', () => {
    expect(rowsOf(longCallView())).toHaveLength(20_600);
  });
});
