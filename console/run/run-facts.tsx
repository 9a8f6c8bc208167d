import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { useAgents } from '../api/agents.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { formatCost, formatCount, formatTokens, shortId } from '../components/format.ts'
import { Duration, Elapsed, RunLink, Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'

/** What is known of an execution beside its payloads. */
export function RunFacts({ run }: { run: ExecutionRecord }) {
  const { usage, startedAt, finishedAt, batchId, trialId, scheduleName } = run
  const slug = useAgents()?.get(run.documentId)?.slug ?? run.documentId
  // Code agents have steps, but no model.
  const hasModel = run.model !== null || usage.inputTokens > 0
  return (
    <section class="card" aria-label="Facts">
      <Facts
        facts={{
          ID: (
            <>
              <code>{run.id}</code> <CopyButton text={run.id} subject="the ID" />
            </>
          ),
          Created: <Time value={run.createdAt} />,
          Duration:
            run.status === 'IN_PROGRESS' ? (
              <>
                <Elapsed since={run.createdAt} /> so far
              </>
            ) : (
              <Duration
                ms={startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : null}
              />
            ),
          Attempts: run.attempts > 1 && `${run.attempts}: the run was resumed`,
          Steps: run.steps > 0 && formatCount(run.steps),
          'Input tokens': hasModel && formatTokens(usage.inputTokens, usage.cachedInputTokens, 'cached'),
          'Output tokens': hasModel && formatTokens(usage.outputTokens, usage.reasoningTokens, 'reasoning'),
          Cost:
            hasModel && (run.costUsd === null ? 'unknown: the model has no price' : formatCost(run.costUsd)),
          Model: run.model && <VisibleText text={run.model} class="mono" />,
          Version: <VersionLink agent={slug} versionId={run.versionId} />,
          Warnings: run.warnings?.join(', '),
          Tenant: run.tenantId && <VisibleText text={run.tenantId} />,
          Batch: batchId !== undefined && (
            <>
              <PageLink section="batches" id={batchId} />
              {run.customId !== undefined && (
                <>
                  {', line '}
                  <VisibleText text={run.customId} />
                </>
              )}
            </>
          ),
          Trial: trialId !== undefined && <PageLink section="trials" id={trialId} />,
          Schedule: scheduleName !== undefined && (
            <>
              <a href={toHref('/schedules', { agent: slug })}>
                <VisibleText text={scheduleName} />
              </a>
              {run.scheduledFor !== undefined && (
                <>
                  {', due '}
                  <Time value={run.scheduledFor} />
                </>
              )}
            </>
          ),
          'Repeats the run': run.originalExecutionId && <RunLink executionId={run.originalExecutionId} />,
          'Called by': run.parentExecutionId && <RunLink executionId={run.parentExecutionId} />,
          'Reuses the result of': run.cachedDocumentExecutionId && (
            <RunLink executionId={run.cachedDocumentExecutionId} />
          ),
          'Learned from': run.learnedFrom.length > 0 && (
            <ul class="inline-list">
              {run.learnedFrom.map((id) => (
                <li key={id}>
                  <RunLink executionId={id} />
                </li>
              ))}
            </ul>
          ),
        }}
      />
    </section>
  )
}

const PageLink = ({ section, id }: { section: 'batches' | 'trials'; id: string }) => (
  <a class="mono" href={toHref(toPath(section, id))} title={id}>
    {shortId(id)}
  </a>
)
