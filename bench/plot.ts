import { type Bar, barChart, chartHeight, text, WIDTH } from './bar-chart.ts'
import { short } from './format.ts'
import { PEERS } from './goals.ts'
import type { Report } from './report.ts'
import { type Spread, spreadOf } from './statistics.ts'

const GAP = 28
const PAD = 24

/** The names that the floors and the ways to run have in the plot, ours marked. */
const RUNS = [
  { figure: 'sync', label: 'Service, sync', isOurs: true },
  { figure: 'cached', label: 'Service, cached hit', isOurs: true },
  { figure: 'async', label: 'Service, async to result', isOurs: true },
  { figure: 'floor', label: 'Floor: bare SDK, 1 read, 2 writes', isOurs: false },
]

/** What the results say at one look, as one SVG that reads on light and dark pages. Null without part a. */
export function plot(report: Report): string | null {
  const figures = report.parts.a?.figures
  if (!figures) return null
  const bars = (figure: string, inFlight: number, unit: string): Bar[] =>
    RUNS.map(({ figure: name, label, isOurs }) => {
      const value = spreadIn(figures, `${name} ${figure} at ${inFlight}`)
      return { label, isOurs, ...value, note: `${short(value.median)} ${unit}` }
    })
  const charts = [
    {
      title: 'Runs per second of an agent that does nothing, 16 in flight (longer is better)',
      bars: bars('runs/s', 16, 'runs/s'),
    },
    { title: 'Milliseconds of one run, p50, 1 in flight (shorter is better)', bars: bars('p50 ms', 1, 'ms') },
    {
      title: 'Runs per second at 16 in flight, as part of a server that writes to SQLite only',
      bars: besidePeers(figures),
    },
  ]
  let y = PAD
  const drawn = charts.map((chart) => {
    const svg = barChart(chart, y)
    y += chartHeight(chart) + GAP
    return svg
  })
  const height = y + 2 * PAD
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Results of npm run bench">
<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a }
  .title { font-weight: 600; fill: #24292f }
  .ours { fill: #2f81f7 } .other { fill: #8c959f } .spread { stroke: #57606a; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .title { fill: #e6edf3 } .other { fill: #6e7681 } .spread { stroke: #9198a1 }
  }
</style>
${drawn.join('\n')}
${footnotes(report)
  .map((line, row) => text(0, y + row * 20, line))
  .join('\n')}
</svg>
`
}

function besidePeers(figures: Record<string, Spread>): Bar[] {
  const here = RUNS.filter(({ figure }) => figure === 'sync' || figure === 'floor').map((run) => {
    const share = spreadIn(figures, `${run.figure} runs/s / record floor at 16`)
    return { ...run, ...share, note: short(share.median) }
  })
  const peers = Object.entries(PEERS.shares).map(([label, share]) => ({
    label: `${label} *`,
    isOurs: false,
    ...spreadOf([share]),
    note: `${share}`,
  }))
  return [...here, ...peers].sort((a, b) => b.median - a.median)
}

function spreadIn(figures: Record<string, Spread>, name: string): Spread {
  const spread = figures[name]
  if (!spread) throw new Error(`"${name}" was not measured.`)
  return spread
}

function footnotes({ machine, measuredAt, quick }: Report): string[] {
  const { cpus, node, platform } = machine
  const how = quick ? 'a quick run' : 'medians of the rounds'
  return [
    `Measured ${measuredAt} on ${cpus} shared CPUs, ${platform}, Node ${node}: ${how}; lines show the spread.`,
    `* ${PEERS.source}; not measured in this run.`,
  ]
}
