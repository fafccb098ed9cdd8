// The script of a load's report, as text: draws the charts from the data in the page. Runs in a browser and uses nothing
// but the page; the style sheet has the colours, for light and dark mode.

/** The script. `uPlot` must be loaded before it. */
export const REPORT_SCRIPT = `
'use strict';
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const drawn = [];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const draw = () => {
    while (drawn.length > 0) drawn.pop().destroy();
    for (const { id, xLabel, xTicks, series, values } of charts) {
      const place = document.getElementById(id);
      const axis = { stroke: colour('--ink'), grid: { stroke: colour('--rule'), width: 1 }, ticks: { stroke: colour('--rule') } };
      const ticks = xTicks === undefined ? {} : {
        splits: () => xTicks.map((tick) => tick.at),
        values: (_, at) => at.map((each) => (xTicks.find((tick) => tick.at === each) || { text: '' }).text),
      };
      drawn.push(new uPlot({
        width: place.clientWidth,
        height: 260,
        scales: { x: { time: false } },
        axes: [{ ...axis, label: xLabel, ...ticks }, axis].concat(
          series.some((each) => each.scale === 'right') ? [{ ...axis, scale: 'right', side: 1, grid: { show: false } }] : [],
        ),
        series: [{ label: xLabel }].concat(series.map((each, index) => ({
          label: each.label,
          scale: each.scale === 'right' ? 'right' : 'y',
          stroke: colour('--line-' + String(index + 1)),
          dash: each.dashed ? [6, 4] : undefined,
          width: 1.5,
          // A time in which nobody waited, or a failed sample, has no value. A line that ended there would hide values that stand
          // alone.
          spanGaps: true,
          points: { show: values[index + 1].filter((value) => value !== null).length < 60 },
          value: (_, value) => (value === null || value === undefined ? '-' : value.toFixed(value < 10 ? 2 : 0)),
        }))),
      }, values, place));
    }
  };
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
})();
`;
