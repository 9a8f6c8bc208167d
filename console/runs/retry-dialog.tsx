import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { usePolling } from '../api/poller.ts'
import { requestPage } from '../api/request.ts'
import { announce, Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { formatCost, formatCountOf } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { AgentLink, RunLink, StatusBadge } from '../components/values.tsx'
import { Text } from '../components/visible-text.tsx'
import { type Retry, retryRuns } from './retry.ts'
import type { Run } from './run-list.ts'

type Props = { runs: Run[]; onClose: () => void }

type DialogProps = { runs: Run[]; onClose: (hasStarted: boolean) => void }

/** Asks, then runs failed runs again, and shows what becomes of each of them. */
export function RetryDialog({ runs: selected, onClose }: DialogProps) {
  // The list goes on behind the dialog.
  const [runs] = useState(selected)
  const [isStarted, setIsStarted] = useState(false)
  const close = () => onClose(isStarted)
  return (
    <Dialog title={`Retry ${formatCountOf(runs.length, 'run')}`} onClose={close}>
      {isStarted ? (
        <Progress runs={runs} onClose={close} />
      ) : (
        <Confirmation runs={runs} onConfirm={() => setIsStarted(true)} onClose={close} />
      )}
    </Dialog>
  )
}

function Confirmation({ runs, onConfirm, onClose }: Props & { onConfirm: () => void }) {
  const cost = runs.reduce((sum, { totalCostUsd }) => sum + (totalCostUsd ?? 0), 0)
  const isUnknown = runs.some(({ totalCostUsd }) => totalCostUsd === null)
  return (
    <div class="form">
      <p>
        Each of them is run again with its input, tenant and options, on the version that a new run gets.
        Models are asked and tools are called again, with all their effects.
      </p>
      <p>
        {cost > 0
          ? `They have cost ${formatCost(cost)}, and can cost as much again`
          : 'They have cost nothing yet'}
        {isUnknown ? '; of some, the price is not known.' : '.'} A retry is a run of its own: the failed run
        stays, and a retry can be cancelled on its page.
      </p>
      <p class="muted">A run that was retried from a list within the last 24 hours is not started twice.</p>
      <div class="actions">
        <Button label="Do not retry" onClick={onClose} />
        <Button label={`Retry ${formatCountOf(runs.length, 'run')}`} class="primary" onClick={onConfirm} />
      </div>
    </div>
  )
}

const WAITING: Retry = { state: 'waiting' }

function Progress({ runs, onClose }: Props) {
  const [retries, setRetries] = useState<Record<string, Retry>>({})
  const controller = useRef(new AbortController())
  const summary = useRef<HTMLParagraphElement>(null)
  const [isDone, setIsDone] = useState(false)
  const latest = useRef(retries)
  latest.current = retries
  useEffect(() => {
    const { signal } = controller.current
    summary.current?.focus()
    const onChange = (id: string, retry: Retry) => setRetries((last) => ({ ...last, [id]: retry }))
    const ids = runs.map(({ id }) => id)
    void retryRuns(ids, { signal, onChange }).then(() => {
      setIsDone(true)
      announce('Every run has been handled.')
    })
    return () => controller.current.abort()
  }, [])
  usePolling(async () => {
    const { signal } = controller.current
    const states = await readStates(Object.values(latest.current))
    if (!signal.aborted) setRetries((last) => withStates(last, states))
    return [...states]
  }, 'retries')

  const states = runs.map(({ id }) => retries[id] ?? WAITING)
  const count = (state: Retry['state']) => states.filter((retry) => retry.state === state).length
  const rejected = count('rejected')
  return (
    <div class="form retries">
      <p ref={summary} tabIndex={-1} role="status">
        {`${count('started')} of ${formatCountOf(runs.length, 'run')} started`}
        {rejected > 0 && `, ${rejected} rejected`}
        {isDone ? '.' : '…'}
      </p>
      <progress max={runs.length} value={count('started') + rejected} aria-label="Runs that were handled" />
      <ItemTable
        caption="Retries"
        items={runs}
        columns={{
          Run: ({ id }) => <RunLink executionId={id} />,
          Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
          Retry: { text: ({ id }) => <Outcome retry={retries[id] ?? WAITING} /> },
        }}
      />
      <div class="actions">
        {!isDone && <Button label="Stop starting runs" onClick={() => controller.current.abort()} />}
        <Button label="Close" onClick={onClose} />
      </div>
    </div>
  )
}

const STATES = { waiting: 'Waiting', starting: 'Starting…', stopped: 'Not started' }

function Outcome({ retry }: { retry: Retry }) {
  if (retry.state === 'rejected')
    return <Text as="span" class="field-error" text={`${retry.error.code}: ${retry.error.message}`} />
  if (retry.state !== 'started') return <span class="muted">{STATES[retry.state]}</span>
  return (
    <>
      <RunLink executionId={retry.id} /> <StatusBadge status={retry.status} />
      {retry.isEarlier && <span class="muted"> (was retried before)</span>}
    </>
  )
}

type States = ReadonlyMap<string, ExecutionSummaryRecord['status']>

/** Of new runs that were in progress: one request, which lists the runs since the first of them. */
async function readStates(retries: Retry[]): Promise<States> {
  const open = retries.filter((retry) => retry.state === 'started' && retry.status === 'IN_PROGRESS')
  const [first] = open.map((retry) => ('createdAt' in retry ? retry.createdAt : '')).sort()
  if (first === undefined) return new Map()
  // Lists go by the time in the ID, which is a little earlier.
  const from = new Date(Date.parse(first) - 1_000).toISOString()
  const { items } = await requestPage<ExecutionSummaryRecord>('/v1/agent_executions', {
    query: { from, fields: 'summary', limit: 100 },
  })
  return new Map(items.map(({ id, status }) => [id, status]))
}

const withStates = (retries: Record<string, Retry>, states: States): Record<string, Retry> =>
  Object.fromEntries(
    Object.entries(retries).map(([id, retry]) => [
      id,
      retry.state === 'started' ? { ...retry, status: states.get(retry.id) ?? retry.status } : retry,
    ]),
  )
