import type { ComponentChildren } from 'preact'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { formatCost, formatCount, formatDuration, formatTokens } from '../components/format.ts'
import { JsonView, TextPortions } from '../components/json-view.tsx'
import { Facts } from '../components/page.tsx'
import { ValueView } from '../components/value-view.tsx'
import { Duration, Elapsed, RunLink, Time } from '../components/values.tsx'
import { say, Text, VisibleText } from '../components/visible-text.tsx'
import type { ToolCall, TracedRun, TraceItem } from './trace.ts'

/** The tool through which a model returns the output (`lib/core/model.ts`). */
const FINAL_ANSWER = 'final_answer'

type Props = {
  item: TraceItem
  run: TracedRun
  onLoadStep: ((number: number) => Promise<void>) | undefined
  onSelect: (id: string, isDeliberate: boolean) => void
}

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
    default:
      return (
        <>
          <Title item={item}>{item.label}</Title>
          <ItemFacts item={item} />
          {item.kind === 'failure' && run.error && <RunError error={run.error} level={3} />}
          <Text text={EXPLANATIONS[`${item.kind} ${item.state}`]} />
        </>
      )
  }
}

/** By kind and state. */
const EXPLANATIONS: Record<string, string> = {
  'attempt done': 'The previous worker stopped. Another one resumed the run at its last step.',
  'queue done': 'The time between the request and the moment when a worker began with the run.',
  'queue open': 'The time between the request and the moment when a worker begins with the run.',
  'work open': 'The next step appears when it is complete.',
  'work done': 'The run has ended without a step.',
}

const Title = ({ item, children }: { item: TraceItem; children: ComponentChildren }) => (
  <div class="actions">
    <h2>{children}</h2>
    {item.state === 'failed' && <span class="badge badge-error">failed</span>}
    {item.state === 'open' && <span class="badge badge-in_progress">in progress</span>}
  </div>
)

const ItemFacts = ({ item, more = {} }: { item: TraceItem; more?: Record<string, ComponentChildren> }) => (
  <Facts
    facts={{
      Began: <Time value={new Date(item.start).toISOString()} />,
      Duration:
        item.end === null
          ? say`${<Elapsed since={new Date(item.start).toISOString()} />} so far`
          : item.kind !== 'attempt' && <Duration ms={item.end - item.start} />,
      Attempt: item.attempt > 1 && item.attempt,
      ...more,
    }}
  />
)

/** Shows values of a step. @param pointer of the value in the step, which may have been left out */
const partOf =
  (step: StepRecord, onLoadStep: Props['onLoadStep']) =>
  (title: string, value: unknown, label: string, pointer: string) => {
    const bytes = step.omitted?.[pointer]
    const isOmitted = bytes !== undefined && onLoadStep !== undefined
    const omitted = isOmitted ? { bytes, load: () => onLoadStep(step.number) } : undefined
    return value === undefined && !omitted ? null : <ValueView {...{ title, value, label, omitted }} />
  }

function StepDetail({ item, onLoadStep, onSelect }: Props) {
  const { step } = item
  if (!step) return null
  const { number, name, usage, text, result, toolCalls = [], stopReason, failedAttempts = [] } = step
  const part = partOf(step, onLoadStep)
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
          Agent: step.agent && <VisibleText text={step.agent} />,
          Run: step.executionId !== undefined && <RunLink executionId={step.executionId} />,
          Attempts: step.attempts !== undefined && formatCount(step.attempts),
          'Time in backoff': step.backoffMs !== undefined && <Duration ms={step.backoffMs} />,
          Replayed: step.replayed && 'from the original run: nothing was used',
        }}
      />
      {part('Text', text || undefined, `the text of step ${number}`, '/text')}
      {part('Result', result, `the result of step ${number}`, '/result')}
      {failedAttempts.length > 0 && (
        <>
          <h3>Failed attempts</h3>
          <ol>
            {failedAttempts.map(({ error, startedAt, durationMs, retryAt }) => (
              <li key={startedAt}>
                <Time value={startedAt} /> <span class="muted">{formatDuration(durationMs)}</span>{' '}
                <VisibleText text={`${error.name}: ${error.message}`} />
                {retryAt === null && <span class="muted"> (the last one)</span>}
              </li>
            ))}
          </ol>
        </>
      )}
      {toolCalls.length > 0 && (
        <>
          <h3>Calls</h3>
          <ol>
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
  const part = partOf(step, onLoadStep)
  const pointer = `/toolCalls/${position}`
  const result = part('Result', call.result, `the result of ${call.name}`, `${pointer}/result`)
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
      {part('Input', call.input, `the input of ${call.name}`, `${pointer}/input`)}
      {!isAnswer && result}
      {isAnswer && result && <p class="muted">The output matches the schema.</p>}
      {!result && call.error === undefined && (isOpen || run.status !== 'IN_PROGRESS') && (
        <p class="muted">{isOpen ? 'No result yet.' : 'No result: the run ended first.'}</p>
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
        {by && say` by ${by}`}
        {decidedAt && say` at ${<Time value={decidedAt} />}`}
        {note && say`: ${note}`}
      </p>
      {input && <ValueView title="Input as approved" value={input} label="the input as approved" />}
    </>
  )
}

const WAITS: Record<string, string> = {
  approval: 'An approval',
  signal: 'A signal',
  sleep: 'A time',
  retry: 'Another attempt at a step',
  execution: 'Another run',
  limit: 'A free place in a limit',
}

function WaitDetail({ item, onLoadStep }: Props) {
  const { step, wait } = item
  const all: Record<string, unknown> & { kind?: string } = { ...step?.wait, ...wait }
  const { kind = '', until, id, signals, title, data } = all
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
          'Waits for': isRun ? <RunLink executionId={String(id)} /> : (WAITS[kind] ?? kind),
          Until: typeof until === 'string' && <Time value={until} />,
          Signals: Array.isArray(signals) && signals.join(', '),
        }}
      />
      {typeof title === 'string' && <Text text={title} />}
      {data != null && <ValueView title="Data" value={data} label="the data of the wait" />}
      {step && partOf(step, onLoadStep)('Result', step.result, `the result of ${item.label}`, '/result')}
      {(step?.skipped ?? []).length > 0 && (
        <ValueView title="Skipped signals" value={step?.skipped} label="the skipped signals" />
      )}
      {item.state === 'open' && <p class="muted">The run uses nothing while it waits.</p>}
    </>
  )
}

/** Why a run failed, with everything that is known about it. Somebody's decision to cancel it is no error. */
export function RunError({ error, level = 2 }: { error: NonNullable<TracedRun['error']>; level?: 2 | 3 }) {
  const { code, message, stack, ...details } = error
  const Heading = level === 2 ? 'h2' : 'h3'
  const isCancel = code === 'Cancelled'
  return (
    <section class={isCancel ? 'card' : 'error-box'} aria-label="Error">
      <Heading>{isCancel ? 'Cancelled' : say`Error ${<VisibleText text={code} class="mono" />}`}</Heading>
      <pre class="long-text">
        <TextPortions text={message} />
      </pre>
      {typeof stack === 'string' && stack !== '' && (
        <>
          <p class="muted">Stack trace</p>
          <pre class="long-text">
            <TextPortions text={stack} />
          </pre>
        </>
      )}
      {Object.keys(details).length > 0 && (
        <JsonView value={details} label="the details of the error" maxRows={12} />
      )}
    </section>
  )
}
