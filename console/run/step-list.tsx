import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'
import { formatCost, formatCount } from '../components/format.ts'
import { JsonView, memo, TextPortions } from '../components/json-view.tsx'
import { Duration, RunLink, Time } from '../components/values.tsx'
import { callId, isCallPending, stepId } from './timeline.ts'

type Props = {
  run: Pick<ExecutionRecord, 'status'>
  steps: StepRecord[]
  /** What the timeline leads to. */
  target?: StepTarget | null
}

/** The details of a step or of one of its calls, by their id. Another object for each time they are asked for. */
export type StepTarget = { step: number; id: string }

/** The tool through which a model returns the output (`lib/core/model.ts`). */
const FINAL_ANSWER = 'final_answer'

/** Steps that are rendered at first, and each time the end of the list comes near. */
const PORTION = 10

/** Rows of a JSON value that are open at first: a page has many of them. */
const ROWS = 20

/** What each step said, called, got and cost. For the page of a run, and for live steps of another page. */
export function StepList({ run, steps, target = null }: Props) {
  const [range, setRange] = useState({ start: 0, end: PORTION })
  const { start, end } = contain(range, target)
  useEffect(() => {
    if (!target) return
    setRange((last) => contain(last, target))
    const element = document.getElementById(target.id)
    element?.scrollIntoView({ block: 'start' })
    element?.focus({ preventScroll: true })
  }, [target])
  const isOpen = run.status === 'IN_PROGRESS'
  if (steps.length === 0)
    return <p class="muted">{isOpen ? 'No step has been completed yet.' : 'The run has no steps.'}</p>
  return (
    <>
      {start > 0 && (
        <button type="button" onClick={() => setRange({ start: Math.max(start - PORTION, 0), end })}>
          {formatCount(start)} earlier steps
        </button>
      )}
      <ol class="steps">
        {steps.slice(start, end).map((step, index) => (
          <StepItem
            key={step.number}
            step={step}
            isRunOpen={isOpen}
            isResumption={step.attempt > (steps[start + index - 1]?.attempt ?? 1)}
          />
        ))}
      </ol>
      {steps.length > end && (
        <MoreSteps
          key={end}
          count={steps.length - end}
          onMore={() => setRange({ start, end: end + PORTION })}
        />
      )}
    </>
  )
}

/** The range, or another one if the target is not in it. */
function contain(range: { start: number; end: number }, target: StepTarget | null) {
  if (!target || (target.step > range.start && target.step <= range.end)) return range
  return { start: Math.max(target.step - 3, 0), end: target.step + PORTION }
}

/** Later steps appear when the end of the list does. */
function MoreSteps({ count, onMore }: { count: number; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!button.current) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore())
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [])
  return (
    <button type="button" ref={button} onClick={onMore}>
      {formatCount(count)} more steps
    </button>
  )
}

type ItemProps = {
  step: StepRecord
  isRunOpen: boolean /** Another worker than that of the step before. */
  isResumption: boolean
}

const StepItem = memo(({ step, isRunOpen, isResumption }: ItemProps) => (
  <li id={stepId(step.number)} class="step" tabIndex={-1}>
    {isResumption && (
      <p class="resumption">
        <span class="badge badge-warning">Resumed: attempt {step.attempt}</span> The previous worker stopped.
      </p>
    )}
    <div class="step-head">
      <h3>
        {step.number}. {step.name ?? 'Model response'}
      </h3>
      <span class="step-facts muted">
        <Time value={step.startedAt} />
        <Duration ms={step.durationMs} />
        {step.usage && (
          <span>
            {formatCount(step.usage.inputTokens)} in, {formatCount(step.usage.outputTokens)} out
          </span>
        )}
        {step.costUsd ? <span>{formatCost(step.costUsd)}</span> : null}
        {step.stopReason && !['stop', 'tool-calls'].includes(step.stopReason) && (
          <span class="badge badge-warning">stopped: {step.stopReason}</span>
        )}
      </span>
    </div>
    {step.text && (
      <div class="step-text long-text">
        <TextPortions text={step.text} />
      </div>
    )}
    {step.result !== undefined && (
      <JsonView maxRows={ROWS} value={step.result} label={`the result of step ${step.number}`} />
    )}
    {step.toolCalls && step.toolCalls.length > 0 && (
      <div class="calls">
        {step.toolCalls.map((call, index) => (
          <CallItem key={call.id} call={call} step={step} index={index} isRunOpen={isRunOpen} />
        ))}
      </div>
    )}
  </li>
))

type Call = NonNullable<StepRecord['toolCalls']>[number]
type CallProps = { call: Call; step: StepRecord; index: number; isRunOpen: boolean }

function CallItem({ call, step, index, isRunOpen }: CallProps) {
  const isPending = isCallPending(call, isRunOpen)
  const id = callId(step.number, index)
  const attempt = call.attempt ?? step.attempt
  const isAnswer = call.name === FINAL_ANSWER
  return (
    <section id={id} class="call" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <div class="step-head">
        <h4 id={`${id}-title`}>
          <span class="muted">{isAnswer ? 'output' : 'tool'}</span> <code>{call.name}</code>
        </h4>
        <span class="step-facts muted">
          {isPending && <span class="badge badge-in_progress">in progress</span>}
          {call.error !== undefined && <span class="badge badge-error">failed</span>}
          {call.durationMs !== undefined && <Duration ms={call.durationMs} />}
          {attempt > step.attempt && <span class="badge badge-warning">attempt {attempt}</span>}
          {call.executionId !== undefined && (
            <span>
              run <RunLink executionId={call.executionId} />
            </span>
          )}
        </span>
      </div>
      <div class="call-parts">
        <div>
          <h5>Input</h5>
          <JsonView maxRows={ROWS} value={call.input} label={`the input of ${call.name}`} />
        </div>
        <div>
          <h5>{call.error === undefined ? 'Result' : 'Error'}</h5>
          {isAnswer && call.error === undefined ? (
            <p class="muted">The output matches the schema.</p>
          ) : call.error !== undefined ? (
            <pre class="field-error">
              <TextPortions text={call.error} />
            </pre>
          ) : call.result !== undefined ? (
            <JsonView maxRows={ROWS} value={call.result} label={`the result of ${call.name}`} />
          ) : (
            <p class="muted">{isPending ? 'Waiting…' : 'None: the run ended first.'}</p>
          )}
        </div>
      </div>
    </section>
  )
}
