import { useEffect, useRef } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { requestJson, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { Loaded } from '../components/detail-page.tsx'
import { ValueView } from '../components/value-view.tsx'
import { RunLink, StatusBadge, Time } from '../components/values.tsx'
import { say, Text, VisibleText } from '../components/visible-text.tsx'
import { useScope } from '../state/session.ts'
import { describeOutcome, findPastApproval, type Outcome, parseKey } from './approvals.ts'

export function PastApproval({ itemKey, title }: { itemKey: string; title: string | undefined }) {
  const item = parseKey(itemKey)
  const mayRead = useScope('read')
  const loaded = useResource(`${itemKey} ${mayRead}`, (signal) =>
    item && mayRead ? load(item, signal) : Promise.resolve(null),
  )
  const { data } = loaded
  const heading = useRef<HTMLHeadingElement>(null)
  // It replaces what had the focus.
  useEffect(() => {
    if (title !== undefined) heading.current?.focus()
  }, [])
  const past = data?.past
  return (
    <section class="card stack approval" aria-labelledby="approval-title">
      <h2 id="approval-title" ref={heading} tabIndex={-1}>
        <VisibleText text={past?.title ?? title ?? 'This approval'} />
      </h2>
      <p>
        <strong>It is not open any more.</strong> {!item && 'The address names no approval.'}
        {item && !mayRead && 'To see what became of it, you need a token with the scope read.'}
      </p>
      {item && mayRead && (
        <Loaded of={loaded} label="Loading what became of it…">
          {() => past?.outcome && <OutcomeView outcome={past.outcome} />}
        </Loaded>
      )}
      {data && !past?.outcome && (
        <p>
          {past
            ? 'The run ended, or went on, without a decision.'
            : 'The run has no such approval, or it belongs to a step that the console does not read.'}
        </p>
      )}
      {item && (
        <p>
          Run <RunLink executionId={item.executionId} />{' '}
          {data && <StatusBadge status={data.run.status} code={data.run.error?.code} />}
        </p>
      )}
      {past && <ValueView title="Input" value={past.asked} label="the input" />}
    </section>
  )
}

async function load({ executionId, id }: { executionId: string; id: string }, signal: AbortSignal) {
  const path = `/v1/agent_executions/${encodeURIComponent(executionId)}`
  const [run, steps] = await Promise.all([
    requestJson<ExecutionRecord>(path, { signal }),
    requestPages<StepRecord>(`${path}/steps`, { query: { limit: 100 }, signal }),
  ])
  return { run, past: findPastApproval(steps.items, id) }
}

const OutcomeView = ({ outcome }: { outcome: Outcome }) => (
  <div>
    <p>
      <Text as="strong" text={describeOutcome(outcome)} />
      {outcome.decidedAt !== '' && say`, ${<Time value={outcome.decidedAt} />}`}
    </p>
    <Text class="long-text" text={outcome.note} />
    {outcome.input !== null && (
      <ValueView title="Input as changed" value={outcome.input} label="the changed input" />
    )}
  </div>
)
