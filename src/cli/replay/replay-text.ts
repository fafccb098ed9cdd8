// The result of a replayed call as text.
import type pc from 'picocolors';
import type { ReplayResult, ShownDifference } from './replay-call.ts';

type Colors = ReturnType<typeof pc.createColors>;

const SAYS = {
  prompts: 'says something else',
  next: 'goes on otherwise',
  state: 'keeps another state',
  latency: 'answers later',
} as const satisfies Record<ShownDifference['what'], string>;

/** The lines about one file. */
export function resultLines(result: ReplayResult, colors: Colors): readonly string[] {
  if ('error' in result) return [`${result.file}  ${colors.red('cannot be replayed')}: ${result.error}`];
  const { file, turns, compared, differences, uncertainFrom, uncertainNext: next } = result;
  const [first] = differences;
  const count = compared === turns ? `${String(turns)} turns` : `${String(compared)} of ${String(turns)} turns compared`;
  const uncertain = [
    ...(uncertainFrom === undefined ? [] : [`  not compared from turn ${String(uncertainFrom)} on: it depends on what is not kept`]),
    ...(next === undefined ? [] : [`  turn ${String(next.turn)} goes on otherwise: recorded ${next.recorded}, today ${next.replayed}`]),
  ].map(colors.dim);
  if (first === undefined) return [`${file}  ${colors.green('same')} (${count})`, ...uncertain];
  const others = [...new Set(differences.map(({ turn }) => turn))].filter((turn) => turn !== first.turn);
  return [
    `${file}  ${colors.red(`turn ${String(first.turn)} ${SAYS[first.what]}`)}`,
    ...differences.filter(({ turn }) => turn === first.turn).flatMap((difference) => sides(difference, colors)),
    ...(others.length === 0 ? [] : [`  then also  turn ${others.map(String).join(', ')}`]),
    ...(compared === turns ? [] : [colors.dim(`  ${count}`)]),
    ...uncertain,
  ];
}

function sides({ what, at, input, recorded, replayed, failure }: ShownDifference, colors: Colors): readonly string[] {
  return [
    colors.dim(`  ${at === undefined ? what : `${what} ${at}`}${input === undefined ? '' : `, after ${input}`}`),
    `    recorded  ${recorded}`,
    `    today     ${replayed}`,
    ...(failure === undefined ? [] : [`    because   ${colors.yellow(failure)}`]),
  ];
}
