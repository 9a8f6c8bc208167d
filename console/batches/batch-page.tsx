import { useEffect, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { asApiError } from '../api/api-error.ts'
import { requestEvents, requestJson } from '../api/request.ts'
import { runTimeOf } from '../api/runs.ts'
import { useList } from '../api/use-list.ts'
import { useRecord } from '../api/use-resource.ts'
import { Button } from '../components/button.tsx'
import { DetailPage, FactsCard } from '../components/detail-page.tsx'
import { Views } from '../components/filter-bar.tsx'
import { formatCost, formatCount, formatPercent, shortId } from '../components/format.ts'
import { ListView } from '../components/list.tsx'
import { Card, Facts } from '../components/page.tsx'
import {
  AgentLink,
  CopiedId,
  Duration,
  Elapsed,
  IdLink,
  RunLink,
  StatusBadge,
  Time,
  VersionLink,
} from '../components/values.tsx'
import { Text, TextLink, VisibleText } from '../components/visible-text.tsx'
import { toHref } from '../state/location.ts'
import { BatchActions } from './batch-actions.tsx'
import {
  followBatch,
  formatBatchCost,
  LINE_STATUSES,
  type LineStatus,
  parseLineStatus,
  progressOf,
} from './batches.ts'
import { BatchStatus, ProgressBar } from './progress.tsx'

export function BatchPage({ batchId, query }: { batchId: string; query: URLSearchParams }) {
  const { isReconnecting, isDeleted, ...batch } = useBatch(batchId)
  const status = parseLineStatus(query.get('status'))
  return (
    <DetailPage
      of={batch}
      label="Loading the batch…"
      title={`Batch ${shortId(batchId)}`}
      parent={<a href="#/batches">Batches</a>}
      scope="read"
      detail={(data) => <BatchStatus batch={data} />}
      actions={(data) => !isDeleted && <BatchActions batch={data} onChange={batch.setData} />}
    >
      {(data) => (
        <>
          {isDeleted && <p class="warning-note">It was deleted meanwhile. This is its last known state.</p>}
          {isReconnecting && (
            <p class="muted" role="status">
              Updates are interrupted: the service does not respond. Trying again…
            </p>
          )}
          <Progress batch={data} />
          <BatchFacts batch={data} />
          {!isDeleted && <Lines key={status} batch={data} status={status} />}
        </>
      )}
    </DetailPage>
  )
}

function useBatch(batchId: string) {
  const path = `/v1/batches/${encodeURIComponent(batchId)}`
  const resource = useRecord<BatchRecord>(path)
  const [isReconnecting, setIsReconnecting] = useState(false)
  const [isDeleted, setIsDeleted] = useState(false)
  const isOpen = resource.data !== null && resource.data.status !== 'ENDED'
  useEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const { signal } = controller
    followBatch({
      open: async (lastEvent, closed) => {
        const headers = lastEvent === '' ? {} : { 'Last-Event-ID': lastEvent }
        return (await requestEvents(path, { headers, signal: closed })).events
      },
      peek: () => requestJson<BatchRecord>(path, { signal }),
      signal,
      onBatch: resource.setData,
      onReconnecting: setIsReconnecting,
    }).catch((error: unknown) => {
      if (!signal.aborted && asApiError(error).status === 404) setIsDeleted(true)
    })
    return () => controller.abort()
  }, [isOpen, path])
  return { ...resource, isReconnecting, isDeleted }
}

function Progress({ batch }: { batch: BatchRecord }) {
  const { counts, lines, cancelled, waiting, waitingFor, error } = batch
  return (
    <Card title="Progress">
      <ProgressBar batch={batch} />
      <p role="status">
        {formatCount(counts.SUCCESS + counts.ERROR)} of {formatCount(lines)} ended (
        {formatPercent(progressOf(batch))})
      </p>
      <Facts
        facts={{
          'In progress or waiting': formatCount(counts.IN_PROGRESS),
          Waiting: waiting > 0 && (
            <>
              {formatCount(waiting)}
              {waitingFor.map(({ kind, name, lines }) => (
                <div key={`${kind} ${name}`}>
                  {formatCount(lines)} for {kind === 'approval' ? 'an approver: ' : `${kind} `}
                  {kind === 'approval' ? (
                    <TextLink
                      href={toHref('/approvals', { agent: batch.documentId, search: name })}
                      text={name}
                    />
                  ) : (
                    <VisibleText text={name} />
                  )}
                </div>
              ))}
            </>
          ),
          Succeeded: formatCount(counts.SUCCESS),
          Failed: formatCount(counts.ERROR) + (cancelled > 0 ? ` (${formatCount(cancelled)} cancelled)` : ''),
          Cost: formatBatchCost(batch),
        }}
      />
      {error && <Text class="warning-note" text={error.message} />}
    </Card>
  )
}

const yesNo = (value: boolean | null) => value !== null && (value ? 'Yes' : 'No')

const BatchFacts = ({ batch }: { batch: BatchRecord }) => (
  <FactsCard
    facts={{
      ID: <CopiedId id={batch.id} />,
      Agent: <AgentLink agentId={batch.documentId} />,
      Version: <VersionLink agent={batch.documentId} versionId={batch.versionId} />,
      Tenant: batch.tenantId,
      Started: <Time value={batch.createdAt} />,
      Ended: batch.endedAt && <Time value={batch.endedAt} />,
      Duration: batch.endedAt ? (
        <Duration ms={Math.max(Date.parse(batch.endedAt) - Date.parse(batch.createdAt), 0)} />
      ) : (
        <Elapsed since={batch.createdAt} />
      ),
      'Lines at the same time': formatCount(batch.maxConcurrency),
      'Retry of': batch.retryOf && <IdLink section="batches" id={batch.retryOf} />,
      Model: batch.model,
      'Strict input': yesNo(batch.enforceInputSchema),
      Cache: yesNo(batch.useCache),
      'Dynamic learning': yesNo(batch.useDynamicLearning),
      'Steps of a line at most': batch.maxAgentSteps !== null && formatCount(batch.maxAgentSteps),
      'Tokens of a line at most': batch.maxTokens !== null && formatCount(batch.maxTokens),
      'Cost of a line at most': batch.maxCostUsd !== null && formatCost(batch.maxCostUsd),
    }}
  />
)

const LINE_VIEW = {
  status: { label: 'Runs with this status', choices: { ALL: 'All', ...LINE_STATUSES }, default: 'ALL' },
}

function Lines({ batch, status }: { batch: BatchRecord; status: LineStatus | null }) {
  // A filtered page can be short: the service reads a part of the lines for each.
  const list = useList<ExecutionSummaryRecord>(`/v1/batches/${encodeURIComponent(batch.id)}/executions`, {
    query: { status, fields: 'summary', limit: 100 },
  })
  return (
    <Card title="Runs" class="stack">
      <div class="toolbar">
        <Views filters={LINE_VIEW} values={{ status: status ?? 'ALL' }} />
        {batch.status !== 'ENDED' && <Button label="Refresh" class="small" onClick={list.reload} />}
      </div>
      <ListView
        list={list}
        noun="run"
        isUncounted
        caption="Runs in the order of the lines"
        columns={{
          Line: ({ customId }) => customId ?? '',
          Run: ({ id }) => <RunLink executionId={id} />,
          Status: ({ status, error, waitingFor }) => (
            <StatusBadge status={status} code={error?.code} isWaiting={waitingFor !== null} />
          ),
          Duration: { numeric: (run) => <Duration ms={runTimeOf(run)} /> },
          Steps: { numeric: ({ steps }) => formatCount(steps) },
          Cost: { numeric: ({ costUsd }) => (costUsd ? formatCost(costUsd) : null) },
        }}
        empty={status === null ? 'No line has started, or its runs were deleted.' : 'No run has this status.'}
      />
      <p class="muted">Lines that have not started, or were not started any more, have no run.</p>
    </Card>
  )
}
