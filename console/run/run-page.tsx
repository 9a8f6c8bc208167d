import { useMemo, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { useAgents } from '../api/agents.ts'
import { runTimeOf } from '../api/runs.ts'
import { DetailPage, FactsCard } from '../components/detail-page.tsx'
import { formatCost, formatCount, formatTokens, shortId } from '../components/format.ts'
import { Page } from '../components/page.tsx'
import {
  AgentLink,
  CopiedId,
  Duration,
  Elapsed,
  IdLink,
  Person,
  RunLink,
  RunMarks,
  StatusBadge,
  Time,
  VersionLink,
} from '../components/values.tsx'
import { say, TextLink, VisibleText } from '../components/visible-text.tsx'
import { RunScores } from '../scores/scores.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { TracePanel } from '../trace/trace-panel.tsx'
import { withProgress } from './follow-run.ts'
import { RunActions } from './run-actions.tsx'
import { RunValues } from './run-values.tsx'
import { useRun } from './use-run.ts'

export function RunPage({ executionId, query }: { executionId: string; query: URLSearchParams }) {
  const { run: stored, steps, hasAllSteps, isReconnecting, live, ...actions } = useRun(executionId)
  const data = useMemo(() => stored && withProgress(stored, steps), [stored, steps])
  const [isDeleted, setIsDeleted] = useState(false)
  if (isDeleted) return <DeletedRun executionId={executionId} />
  const select = (id: string) =>
    navigate(toHref(toPath('runs', executionId), { step: id }), { replace: true })
  return (
    <DetailPage
      of={{ ...actions, data }}
      label="Loading the run…"
      title={`Run ${shortId(executionId)}`}
      parent={
        <>
          <a href="#/runs">Runs</a>
          {data && say` of ${<AgentLink agentId={data.documentId} />}`}
        </>
      }
      detail={(run) => (
        <>
          <StatusBadge status={run.status} code={run.error?.code} isWaiting={run.waitingFor !== null} />
          <RunMarks run={run} />
        </>
      )}
      actions={(run) => (
        <RunActions run={run} onChange={actions.setRun} onDelete={() => setIsDeleted(true)} />
      )}
    >
      {(run) => (
        <>
          <RunWaits run={run} />
          <RunFacts run={run} />
          <RunScores scores={run.scores} />
          {isReconnecting && run.status === 'IN_PROGRESS' && (
            <p class="muted" role="status">
              The connection was lost. Reconnecting…
            </p>
          )}
          <TracePanel
            {...{ run, steps, live }}
            hasAllSteps={hasAllSteps || actions.error !== null}
            selectedId={query.get('step')}
            onSelect={select}
            onLoadStep={actions.loadStep}
          >
            <RunValues run={run} onLoadValues={actions.loadValues} />
          </TracePanel>
        </>
      )}
    </DetailPage>
  )
}

/** Who has to decide, or which run has to end, before this one goes on. */
const RunWaits = ({ run: { id, waitingFor } }: { run: ExecutionRecord }) => (
  <>
    {waitingFor
      ?.filter(({ kind }) => kind === 'approval' || kind === 'execution')
      .map((wait) => (
        <p key={wait.id} class="warning-note" role="note">
          {wait.kind === 'approval' ? (
            <>
              The run waits for an approver:{' '}
              <TextLink
                href={toHref('/approvals', { item: `${id}.${wait.id}` })}
                text={`decide on ${wait.name}`}
              />
            </>
          ) : (
            say`The run waits for ${<RunLink executionId={wait.id ?? ''} />}, which it has called.`
          )}
          {wait.until !== null && say` until ${<Time value={wait.until} />}`}
        </p>
      ))}
  </>
)

function RunFacts({ run }: { run: ExecutionRecord }) {
  const { usage, batchId, trialId, scheduleName } = run
  const slug = useAgents()?.get(run.documentId)?.slug ?? run.documentId
  // Code agents have steps, but no model.
  const hasModel = run.model !== null || usage.inputTokens > 0
  return (
    <FactsCard
      facts={{
        ID: <CopiedId id={run.id} />,
        Created: <Time value={run.createdAt} />,
        Duration:
          run.status === 'IN_PROGRESS' ? (
            say`${<Elapsed since={run.createdAt} />} so far`
          ) : (
            <Duration ms={runTimeOf(run)} />
          ),
        Attempts: run.attempts > 1 && `${run.attempts}: the run was resumed`,
        Steps: run.steps > 0 && formatCount(run.steps),
        'Input tokens': hasModel && formatTokens(usage.inputTokens, usage.cachedInputTokens, 'cached'),
        'Output tokens': hasModel && formatTokens(usage.outputTokens, usage.reasoningTokens, 'reasoning'),
        Cost:
          hasModel && (run.costUsd === null ? 'unknown: the model has no price' : formatCost(run.costUsd)),
        Model: run.model && <VisibleText text={run.model} class="mono" />,
        Version: <VersionLink agent={slug} versionId={run.versionId} />,
        'Started by': run.tokenId !== null && <Person id={run.tokenId} />,
        Keys:
          run.keys &&
          Object.entries(run.keys)
            .map((each) => each.join(': '))
            .join(', '),
        Warnings: run.warnings?.join(', '),
        Tenant: run.tenantId,
        Batch: batchId !== undefined && (
          <>
            <IdLink section="batches" id={batchId} />
            {run.customId && say`, line ${run.customId}`}
          </>
        ),
        Trial: trialId !== undefined && <IdLink section="trials" id={trialId} />,
        Schedule: scheduleName !== undefined && (
          <>
            <TextLink href={toHref('/schedules', { agent: slug })} text={scheduleName} />
            {run.scheduledFor !== undefined && say`, due ${<Time value={run.scheduledFor} />}`}
          </>
        ),
        'Repeats the run': run.originalExecutionId && <RunLink executionId={run.originalExecutionId} />,
        'Scores the run': run.scoredExecutionId && <RunLink executionId={run.scoredExecutionId} />,
        'Called by': run.source !== 'SCORE' && run.parentExecutionId && (
          <RunLink executionId={run.parentExecutionId} />
        ),
        'Reuses the result of': run.cachedDocumentExecutionId && (
          <RunLink executionId={run.cachedDocumentExecutionId} />
        ),
        'Learned from': run.learnedFrom.length > 0 && (
          <ul class="plain-list actions">
            {run.learnedFrom.map((id) => (
              <li key={id}>
                <RunLink executionId={id} />
              </li>
            ))}
          </ul>
        ),
      }}
    />
  )
}

const DeletedRun = ({ executionId }: { executionId: string }) => (
  <Page key="deleted" title="Run deleted" parent={<a href="#/runs">Runs</a>}>
    <p>
      The run <code>{executionId}</code> and everything that belongs to it are deleted.
    </p>
  </Page>
)
