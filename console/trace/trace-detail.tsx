import type { ComponentChildren } from 'preact'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { Facts } from '../components/data.tsx'
import { formatCost, formatCount, formatDuration, formatTokens } from '../components/format.ts'
import { JsonView, TextPortions } from '../components/json-view.tsx'
import { ValueView } from '../components/value-view.tsx'
import { Duration, Elapsed, RunLink, Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import type { ToolCall, TracedRun, TraceItem } from './trace.ts'

/** The tool through which a model returns the output (`lib/core/model.ts`). */
const FINAL_ANSWER = 'final_answer'

type Props = {
  item: TraceItem
  run: TracedRun
  onLoadStep: ((number: number) => Promise<void>) | undefined
  onSelect: (id: string, isDeliberate: boolean) => void
}

/** Everything about one item of a trace. */
export function ItemDetail(props: Props) {
  const { item, run } = props
  switch (item.kind) {
    case 'call':
      return <CallDetail {...props} />
    case 'response':
    case 'code-step':
      return <StepDetail {...props} />
    case 'wait':
      return <WaitDetail {...props} />
    case 'failure':
      return (
        <>
          <Title item={item}>How it ended</Title>
          <ItemFacts item={item} />
          {run.error && <RunError error={run.error} level={3} />}
        </>
      )
    case 'attempt':
      return (
        <>
          <Title item={item}>Attempt {item.attempt}</Title>
          <p>
            The previous worker stopped. Another one resumed the run at its last step, at{' '}
            <Time value={new Date(item.start).toISOString()} />.
          </p>
        </>
      )
    case 'queue':
      return (
        <>
          <Title item={item}>Waiting for a worker</Title>
          <ItemFacts item={item} />
          <p>The time between the request and the moment when a worker began with the run.</p>
        </>
      )
    default:
      return (
        <>
          <Title item={item}>{item.end === null ? 'Working' : 'Work without steps'}</Title>
          <ItemFacts item={item} />
          <p>
            {item.end === null
              ? 'The next step appears when it is complete.'
              : 'The run has ended without a step.'}
          </p>
        </>
      )
  }
}

const Title = ({ item, children }: { item: TraceItem; children: ComponentChildren }) => (
  <div class="trace-title">
    <h2>{children}</h2>
    {item.state === 'failed' && <span class="badge badge-error">failed</span>}
    {item.state === 'open' && <span class="badge badge-in_progress">in progress</span>}
  </div>
)

function ItemFacts({ item, more = {} }: { item: TraceItem; more?: Record<string, ComponentChildren> }) {
  return (
    <Facts
      facts={{
        Began: <Time value={new Date(item.start).toISOString()} />,
        Duration:
          item.end === null ? (
            <>
              <Elapsed since={new Date(item.start).toISOString()} /> so far
            </>
          ) : (
            <Duration ms={item.end - item.start} />
          ),
        Attempt: item.attempt > 1 && item.attempt,
        ...more,
      }}
    />
  )
}

/** What `ValueView` needs to know of a value that was left out. */
function omittedOf(step: StepRecord, pointer: string, onLoadStep: Props['onLoadStep']) {
  const bytes = step.omitted?.[pointer]
  return bytes === undefined || !onLoadStep ? undefined : { bytes, load: () => onLoadStep(step.number) }
}

function StepDetail({ item, onLoadStep, onSelect }: Props) {
  const { step } = item
  if (!step) return null
  const { number, name, usage, text, result, toolCalls = [], stopReason } = step
  const omittedText = omittedOf(step, '/text', onLoadStep)
  const omittedResult = omittedOf(step, '/result', onLoadStep)
  return (
    <>
      <Title item={item}>
        {number}. <VisibleText text={name ?? 'Model response'} />
      </Title>
      <ItemFacts
        item={item}
        more={{
          'Input tokens': usage && formatTokens(usage.inputTokens, usage.cachedInputTokens, 'cached'),
          'Output tokens': usage && formatTokens(usage.outputTokens, usage.reasoningTokens, 'reasoning'),
          Cost: step.costUsd ? formatCost(step.costUsd) : null,
          Model: step.model && <VisibleText text={step.model} class="mono" />,
          Stopped: stopReason && !['stop', 'tool-calls'].includes(stopReason) && (
            <VisibleText text={stopReason} class="badge badge-warning" />
          ),
          'Cleared tool results': step.clearedResults !== undefined && formatCount(step.clearedResults),
          Replayed: step.replayed && 'from the original run: nothing was used',
        }}
      />
      {(text || omittedText) && (
        <ValueView title="Text" value={text} label={`the text of step ${number}`} omitted={omittedText} />
      )}
      {(result !== undefined || omittedResult) && (
        <ValueView
          title="Result"
          value={result}
          label={`the result of step ${number}`}
          omitted={omittedResult}
        />
      )}
      {toolCalls.length > 0 && (
        <>
          <h3>Calls</h3>
          <ol class="trace-calls">
            {toolCalls.map((call, index) => (
              <li key={call.id}>
                <button type="button" class="link" onClick={() => onSelect(`${number}.${index + 1}`, true)}>
                  <VisibleText text={call.name} />
                </button>{' '}
                {call.durationMs !== undefined && (
                  <span class="muted">{formatDuration(call.durationMs)}</span>
                )}{' '}
                {call.error !== undefined && <span class="badge badge-error">failed</span>}
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  )
}

function CallDetail({ item, run, onLoadStep }: Props) {
  const { step, call } = item
  if (!step || !call) return null
  const position = (step.toolCalls ?? []).findIndex(({ id }) => id === call.id)
  const omittedResult = omittedOf(step, `/toolCalls/${position}/result`, onLoadStep)
  const isAnswer = call.name === FINAL_ANSWER
  const isOpen = item.state === 'open'
  return (
    <>
      <Title item={item}>
        {item.id} <VisibleText text={call.name} class="mono" />
      </Title>
      <ItemFacts
        item={item}
        more={{
          Kind: isAnswer
            ? 'Output of the run'
            : call.executionId === undefined
              ? 'Tool call'
              : 'Call of an agent',
          Run: call.executionId !== undefined && <RunLink executionId={call.executionId} />,
          Replayed: call.replayed && 'result of the original run: the call was not made',
        }}
      />
      {call.approval && <Approval approval={call.approval} isOpen={isOpen} />}
      {call.error !== undefined && (
        <section class="error-box" aria-label="Error of the call">
          <pre class="long-text">
            <TextPortions text={call.error} />
          </pre>
        </section>
      )}
      <ValueView
        title="Input"
        value={call.input}
        label={`the input of ${call.name}`}
        omitted={omittedOf(step, `/toolCalls/${position}/input`, onLoadStep)}
      />
      {call.result !== undefined || omittedResult ? (
        isAnswer ? (
          <p class="muted">The output matches the schema.</p>
        ) : (
          <ValueView
            title="Result"
            value={call.result}
            label={`the result of ${call.name}`}
            omitted={omittedResult}
          />
        )
      ) : (
        call.error === undefined && (
          <p class="muted">
            {isOpen
              ? 'No result yet.'
              : run.status === 'IN_PROGRESS'
                ? ''
                : 'No result: the run ended first.'}
          </p>
        )
      )}
    </>
  )
}

function Approval({ approval, isOpen }: { approval: NonNullable<ToolCall['approval']>; isOpen: boolean }) {
  const { decision, by, note, decidedAt, input, until } = approval
  if (!decision)
    return (
      <p class={isOpen ? '' : 'muted'}>
        {isOpen ? 'Waits for an approval' : 'Needed an approval'}, until <Time value={until} />.
      </p>
    )
  const verb = { approve: 'Approved', reject: 'Rejected', timeout: 'Not decided in time' }[decision]
  return (
    <>
      <p>
        {verb}
        {by && (
          <>
            {' '}
            by <VisibleText text={by} />
          </>
        )}
        {decidedAt && (
          <>
            {' '}
            at <Time value={decidedAt} />
          </>
        )}
        {note && (
          <>
            : <VisibleText text={note} />
          </>
        )}
      </p>
      {input && <ValueView title="Input as approved" value={input} label="the input as approved" />}
    </>
  )
}

const WAITS: Record<string, string> = {
  approval: 'An approval',
  signal: 'A signal',
  sleep: 'A time',
  execution: 'Another run',
  limit: 'A free place in a limit',
}

function WaitDetail({ item, onLoadStep }: Props) {
  const { step, wait } = item
  const {
    kind = '',
    until,
    id,
    signals,
    ...others
  } = { ...step?.wait, ...wait } as Record<string, unknown> & {
    kind?: string
  }
  const omitted = step && omittedOf(step, '/result', onLoadStep)
  const isRun = kind === 'execution' && typeof id === 'string'
  return (
    <>
      <Title item={item}>
        {step && `${step.number}. `}
        <VisibleText text={item.label} />
      </Title>
      <ItemFacts
        item={item}
        more={{
          'Waits for': isRun ? (
            <RunLink executionId={String(id)} />
          ) : (
            (WAITS[kind] ?? <VisibleText text={kind} />)
          ),
          Until: typeof until === 'string' && <Time value={until} />,
          Signals: Array.isArray(signals) && <VisibleText text={signals.join(', ')} />,
        }}
      />
      {typeof others.title === 'string' && (
        <p>
          <VisibleText text={others.title} />
        </p>
      )}
      {others.data !== undefined && others.data !== null && (
        <ValueView title="Data" value={others.data} label="the data of the wait" />
      )}
      {step && (step.result !== undefined || omitted) && (
        <ValueView
          title="Result"
          value={step.result}
          label={`the result of ${item.label}`}
          omitted={omitted}
        />
      )}
      {(step?.skipped ?? []).length > 0 && (
        <ValueView title="Skipped signals" value={step?.skipped} label="the skipped signals" />
      )}
      {item.state === 'open' && <p class="muted">The run uses nothing while it waits.</p>}
    </>
  )
}

/** Why a run failed, with everything that is known about it. Somebody's decision to cancel it is no error. */
export function RunError({ error, level = 2 }: { error: NonNullable<TracedRun['error']>; level?: 2 | 3 }) {
  const { code, message, ...details } = error
  const Heading = level === 2 ? 'h2' : 'h3'
  const isCancel = code === 'Cancelled'
  return (
    <section class={isCancel ? 'card' : 'error-box'} aria-label="Error">
      <Heading>
        {isCancel ? (
          'Cancelled'
        ) : (
          <>
            Error <VisibleText text={code} class="mono" />
          </>
        )}
      </Heading>
      <pre class="long-text">
        <TextPortions text={message} />
      </pre>
      {Object.keys(details).length > 0 && (
        <JsonView value={details} label="the details of the error" maxRows={12} />
      )}
    </section>
  )
}
