import { useState } from 'preact/hooks'
import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'
import { formatCount, formatDuration } from '../components/format.ts'
import { useNow } from '../components/values.tsx'
import type { StepTarget } from './step-list.tsx'
import { type Bar, scaleMarks, type Timeline, toTimeline } from './timeline.ts'

/** Rows that are rendered at a time. */
const PORTION = 100

const KINDS = {
  wait: 'Waiting',
  work: 'Working',
  response: 'Model response',
  'code-step': 'Step',
  call: 'Tool call',
}

type Props = {
  run: ExecutionRecord
  steps: StepRecord[]
  /** With the step or call of the bar that was chosen. */
  onShow: (target: StepTarget) => void
}

/** What happened when. Each bar leads to the details of its step or call. */
export function TimelineChart({ run, steps, onShow }: Props) {
  return run.status === 'IN_PROGRESS' ? (
    <LiveChart run={run} steps={steps} onShow={onShow} />
  ) : (
    <Chart timeline={toTimeline(run, steps, 0)} isOpen={false} onShow={onShow} />
  )
}

/** Only a run in progress depends on the time. */
const LiveChart = ({ run, steps, onShow }: Props) => (
  <Chart timeline={toTimeline(run, steps, useNow())} isOpen onShow={onShow} />
)

type ChartProps = { timeline: Timeline; isOpen: boolean; onShow: Props['onShow'] }

function Chart({ timeline, isOpen, onShow }: ChartProps) {
  const { start, end, bars, resumptions } = timeline
  const [count, setCount] = useState(PORTION)
  const length = end - start
  const toPercent = (at: number) => `${(100 * Math.max(at - start, 0)) / length}%`
  if (bars.length === 0) return null
  return (
    <div class="timeline">
      <div class="timeline-scale" aria-hidden="true">
        {scaleMarks(length).map((mark) => (
          <span key={mark} style={{ left: toPercent(start + mark) }}>
            {formatDuration(mark)}
          </span>
        ))}
      </div>
      <ol>
        {(isOpen ? bars.slice(-count) : bars.slice(0, count)).map((bar) => (
          <TimelineRow
            key={bar.id}
            bar={bar}
            left={toPercent(bar.start)}
            width={`${(100 * Math.max((bar.end ?? end) - bar.start, 0)) / length}%`}
            offset={bar.start - start}
            isOpen={isOpen}
            onShow={onShow}
          />
        ))}
      </ol>
      {bars.length > count && (
        <button type="button" class="small" onClick={() => setCount(count + PORTION)}>
          {formatCount(bars.length - count)} {isOpen ? 'earlier' : 'more'}
        </button>
      )}
      {resumptions.length > 0 && (
        <div class="timeline-marks">
          {resumptions.map(({ at, attempt }) => (
            <span
              key={attempt}
              style={{ left: toPercent(at) }}
              title={`Attempt ${attempt} resumed the run`}
            />
          ))}
        </div>
      )}
    </div>
  )
}

type RowProps = {
  bar: Bar
  left: string
  width: string /** Milliseconds since the beginning. */
  offset: number
  isOpen: boolean
  onShow: Props['onShow']
}

function TimelineRow({ bar, left, width, offset, isOpen, onShow }: RowProps) {
  const { id, kind, label, hasFailed, lane, attempt } = bar
  const duration =
    bar.end === null ? (isOpen ? 'in progress' : 'not finished') : formatDuration(bar.end - bar.start)
  const name = kind === 'response' || kind === 'code-step' ? `${bar.step}. ${label}` : label
  const details = [
    `${KINDS[kind]}, ${duration}, after ${formatDuration(offset)}`,
    lane > 0 && 'in parallel with others',
    hasFailed && 'failed',
    attempt > 1 && `attempt ${attempt}`,
  ]
  const text = details.filter(Boolean).join(', ')
  return (
    <li class={`timeline-row timeline-${kind}`}>
      {kind === 'wait' || kind === 'work' ? (
        <span class="timeline-label">
          {name}
          <span class="visually-hidden">: {text}</span>
        </span>
      ) : (
        <button type="button" class="link timeline-label" onClick={() => onShow({ step: bar.step, id })}>
          {name}
          <span class="visually-hidden">: {text}</span>
        </button>
      )}
      <span class="timeline-track" aria-hidden="true" title={`${name}: ${text}`}>
        <span
          class={`timeline-bar${hasFailed ? ' timeline-failed' : ''}${bar.end === null ? ' timeline-open' : ''}`}
          style={{ left, width }}
        />
      </span>
      <span class="timeline-duration" aria-hidden="true">
        {duration}
      </span>
    </li>
  )
}
