import './small-charts.css'
import { formatCountOf } from './format.ts'

type Part = { size: number; color: string }

/** How a whole is divided. What the parts are is beside it, as text. */
export function PartsBar({ parts, total }: { parts: Part[]; total: number }) {
  const rest = total - parts.reduce((sum, { size }) => sum + size, 0)
  return (
    <div class="parts" aria-hidden="true">
      {parts.map(({ size, color }) => size > 0 && <span style={{ flexGrow: size, background: color }} />)}
      {rest > 0 && <span style={{ flexGrow: rest }} />}
    </div>
  )
}

/** How much of a limit is used, as a bar above its text. */
export function LimitBar({ used, limit, format }: { used: number; limit: number; format: Format }) {
  const color = used >= limit ? 'var(--danger)' : used >= NEAR * limit ? 'var(--warning)' : 'var(--series-1)'
  return (
    <>
      <PartsBar parts={[{ size: Math.min(used, limit), color }]} total={limit} />
      <span class={used >= limit ? 'field-error' : undefined}>
        {format(used)} of {format(limit)}
      </span>
    </>
  )
}

type Format = (value: number) => string

const NEAR = 0.8
const HEIGHT = 20

/** Runs over time: those that succeeded, and above them those that failed. */
export function Spark({ values }: { values: [succeeded: number, failed: number][] }) {
  const max = Math.max(...values.map(([succeeded, failed]) => succeeded + failed), 1)
  const runs = values.reduce((sum, [succeeded, failed]) => sum + succeeded + failed, 0)
  const failures = values.reduce((sum, [, failed]) => sum + failed, 0)
  const height = (count: number) => (HEIGHT * count) / max
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${values.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatCountOf(runs, 'run')}, ${failures} failed`}
    >
      {values.map(([succeeded, failed], x) => (
        <>
          <rect x={x + 0.1} width={0.8} y={HEIGHT - height(succeeded)} height={height(succeeded)} />
          <rect
            class="spark-failed"
            {...{ x: x + 0.1, width: 0.8, height: height(failed) }}
            y={HEIGHT - height(succeeded + failed)}
          />
        </>
      ))}
    </svg>
  )
}

/** `open`: not known yet. `none`: it did not happen. */
export type Outcome = { state: 'success' | 'error' | 'open' | 'none'; text: string }

const SHOWN = 10

/** The last outcomes as dots, the newest on the right. @param props.outcomes the newest first */
export function Outcomes({ outcomes }: { outcomes: Outcome[] }) {
  const shown = outcomes.slice(0, SHOWN)
  const failed = shown.filter(({ state }) => state === 'error').length
  if (shown.length === 0) return <span class="muted">–</span>
  return (
    <span class="outcomes" role="img" aria-label={`Last ${shown.length}: ${failed} failed`}>
      {shown.toReversed().map(({ state, text }, index) => (
        <i key={index} class={`outcome-${state}`} title={text} />
      ))}
    </span>
  )
}
