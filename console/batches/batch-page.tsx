import './batches.css'
import type { BatchRecord } from '../../lib/contract/records/batch-record.ts'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution-record.ts'
import { runTimeOf } from '../agents/durations.ts'
import { useList } from '../api/use-list.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Card, Facts, Segments } from '../components/data.tsx'
import { formatCost, formatCount, formatPercent, shortId } from '../components/format.ts'
import { ListView } from '../components/list.tsx'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import {
  AgentLink,
  Duration,
  Elapsed,
  RunLink,
  StatusBadge,
  Time,
  VersionLink,
} from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { hrefHere, navigate, toHref, toPath } from '../state/location.ts'
import { BatchActions } from './batch-actions.tsx'
import { formatBatchCost, LINE_STATUSES, type LineStatus, parseLineStatus, progressOf } from './batches.ts'
import { BatchStatus, ProgressBar } from './progress.tsx'
import { useBatch } from './use-batch.ts'

/** One batch: how far it is, what it cost, and its runs. Which of these are shown is in the URL. */
export function BatchPage({ batchId, query }: { batchId: string; query: URLSearchParams }) {
  const { data: batch, error, reload, setData, isReconnecting, isDeleted } = useBatch(batchId)
  const status = parseLineStatus(query.get('status'))
  return (
    <Page
      title={`Batch ${shortId(batchId)}`}
      parent={<a href="#/batches">Batches</a>}
      detail={batch && <BatchStatus batch={batch} />}
      actions={batch && !isDeleted && <BatchActions batch={batch} onChange={setData} />}
    >
      <NeedsScope scope="read">
        {error && <ErrorBox error={error} onRetry={reload} />}
        {!batch && !error && <Spinner label="Loading the batch…" />}
        {batch && (
          <div class="stack">
            {isDeleted && <p class="batch-note">It was deleted meanwhile. This is its last known state.</p>}
            {isReconnecting && (
              <p class="muted" role="status">
                Updates are interrupted: the service does not respond. Trying again…
              </p>
            )}
            <Progress batch={batch} />
            <BatchFacts batch={batch} />
            {!isDeleted && <Lines key={status} batch={batch} status={status} />}
          </div>
        )}
      </NeedsScope>
    </Page>
  )
}

function Progress({ batch }: { batch: BatchRecord }) {
  const { counts, lines, cancelled, waiting, waitingFor, error } = batch
  return (
    <Card title="Progress">
      <ProgressBar batch={batch} />
      <p role="status" class="batch-progress">
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
                  {formatCount(lines)} for {kind} <VisibleText text={name} />
                </div>
              ))}
            </>
          ),
          Succeeded: formatCount(counts.SUCCESS),
          Failed: (
            <>
              {formatCount(counts.ERROR)}
              {cancelled > 0 && ` (${formatCount(cancelled)} cancelled)`}
            </>
          ),
          Cost: formatBatchCost(batch),
        }}
      />
      {error && (
        <p class="batch-note">
          <VisibleText text={error.message} />
        </p>
      )}
    </Card>
  )
}

const yesNo = (value: boolean | null) => value !== null && (value ? 'Yes' : 'No')

const BatchFacts = ({ batch }: { batch: BatchRecord }) => (
  <section class="card" aria-label="Facts">
    <Facts
      facts={{
        ID: (
          <>
            <code>{batch.id}</code> <CopyButton text={batch.id} subject="the ID" />
          </>
        ),
        Agent: <AgentLink agentId={batch.documentId} />,
        Version: <VersionLink agent={batch.documentId} versionId={batch.versionId} />,
        Tenant: batch.tenantId !== null && <VisibleText text={batch.tenantId} />,
        Started: <Time value={batch.createdAt} />,
        Ended: batch.endedAt !== null && <Time value={batch.endedAt} />,
        Duration:
          batch.endedAt === null ? (
            <Elapsed since={batch.createdAt} />
          ) : (
            <Duration ms={Math.max(Date.parse(batch.endedAt) - Date.parse(batch.createdAt), 0)} />
          ),
        'Lines at the same time': formatCount(batch.maxConcurrency),
        'Retry of': batch.retryOf !== null && (
          <a class="mono" href={toHref(toPath('batches', batch.retryOf))} title={batch.retryOf}>
            {shortId(batch.retryOf)}
          </a>
        ),
        Model: batch.model !== null && <VisibleText text={batch.model} />,
        'Strict input': yesNo(batch.enforceInputSchema),
        Cache: yesNo(batch.useCache),
        'Dynamic learning': yesNo(batch.useDynamicLearning),
        'Steps of a line at most': batch.maxAgentSteps !== null && formatCount(batch.maxAgentSteps),
        'Tokens of a line at most': batch.maxTokens !== null && formatCount(batch.maxTokens),
        'Cost of a line at most': batch.maxCostUsd !== null && formatCost(batch.maxCostUsd),
      }}
    />
  </section>
)

/** The runs of a batch in the order of its lines. */
function Lines({ batch, status }: { batch: BatchRecord; status: LineStatus | null }) {
  // A filtered page can be short: the service reads a part of the lines for each.
  const list = useList<ExecutionSummaryRecord>(`/v1/batches/${encodeURIComponent(batch.id)}/executions`, {
    query: { status, fields: 'summary', limit: 100 },
  })
  return (
    <Card title="Runs" class="stack">
      <div class="toolbar">
        <Segments
          label="Runs with this status"
          choices={{ ALL: 'All', ...LINE_STATUSES }}
          chosen={status ?? 'ALL'}
          onChoose={(chosen) =>
            navigate(hrefHere({ status: chosen === 'ALL' ? null : chosen }), { replace: true })
          }
        />
        {batch.status !== 'ENDED' && (
          <button type="button" class="small" onClick={list.reload}>
            Refresh
          </button>
        )}
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
      <p class="muted note">Lines that have not started, or were not started any more, have no run.</p>
    </Card>
  )
}
