import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import type { Evidence } from './judge.ts'
import { killsOf, type World } from './world.ts'

/** What was measured, by name, and everything that should not have been. */
export type Report = { problems: string[]; figures: [name: string, value: number | string][] }

type Measured = Evidence & { records: ExecutionRecord[]; kills: number; askedAgain: number }

const MAX_PROBLEMS = 25

export function figuresOf(world: World, measured: Measured): Report['figures'] {
  const { observed, counted, records, kills, askedAgain, seconds } = measured
  const { services, models, watch, proxies } = world
  const sum = (of: (counts: World['services'][number]['counts']) => number) =>
    services.reduce((total, { counts }) => total + of(counts), 0)
  const asked = [...models.asked.values()].reduce((total, times) => total + times, 0)
  const computed = world.computedSteps()
  const calls = new Set(models.calls.map(({ key }) => key)).size
  const markers = new Set(records.map(({ input }) => input.marker)).size
  const errors = records.flatMap(({ error }) => (error ? [error.code] : []))

  return [
    ['runs asked for', observed.length],
    ['accepted', observed.filter(({ executionId }) => executionId !== null).length],
    ['executions', records.length],
    ['doubled', records.length - markers],
    ['success', records.filter(({ status }) => status === 'SUCCESS').length],
    ...tally(errors).map(([code, count]): [string, number] => [`error ${code}`, count]),
    ['in progress at the end', records.filter(({ status }) => status === 'IN_PROGRESS').length],
    ['kills', kills],
    ['  a second', (kills / seconds.faults).toFixed(2)],
    ['  of gateways, with their runners', killsOf(world).gateways],
    ['  of runners', killsOf(world).runners],
    ['runners paused', sum(({ pauses }) => pauses)],
    ['starts', sum(({ starts }) => starts)],
    ['  that failed', sum(({ failedStarts }) => failedStarts)],
    ['model responses', asked],
    ['  asked for again', askedAgain],
    ['tool calls', models.calls.length],
    ['  made again', models.calls.length - calls],
    ['code steps computed', computed.length],
    ['  computed again', computed.length - new Set(computed).size],
    ['checkpoints', watch.checkpoints.size],
    ...Object.entries(counted).map(([what, count]): [string, number] => [`clients got ${what}`, count]),
    ...Object.entries(proxies).flatMap(([name, { counts }]): [string, number | string][] => [
      [`${name} requests`, counts.requests],
      [
        '  faults',
        Object.entries(counts.faults)
          .map((entry) => entry.join(' '))
          .join(', '),
      ],
    ]),
    ['seconds of faults', seconds.faults.toFixed(1)],
    ['seconds to settle', seconds.settling.toFixed(1)],
  ]
}

function tally(names: string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length])
}

/** The figures as a table, then what is wrong. */
export function printed({ figures, problems }: Report): string {
  const width = Math.max(...figures.map(([name]) => name.length))
  const rows = figures.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `- ${problem}`)
  const more = problems.length > shown.length ? [`- and ${problems.length - shown.length} more`] : []
  const verdict =
    problems.length === 0 ? ['nothing is wrong'] : [`${problems.length} problems:`, ...shown, ...more]
  return [...rows, '', ...verdict].join('\n')
}
