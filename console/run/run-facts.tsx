import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { formatCost, formatCount, shortId } from '../components/format.ts'
import { Duration, Elapsed, RunLink, Time } from '../components/values.tsx'

/** What is known of an execution beside its payloads. */
export function RunFacts({ run }: { run: ExecutionRecord }) {
  const { usage, startedAt, finishedAt } = run
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
          'Input tokens': run.steps > 0 && tokens(usage.inputTokens, usage.cachedInputTokens, 'cached'),
          'Output tokens': run.steps > 0 && tokens(usage.outputTokens, usage.reasoningTokens, 'reasoning'),
          Cost:
            run.steps > 0 &&
            (run.costUsd === null ? 'unknown: the model has no price' : formatCost(run.costUsd)),
          Model: run.model && <code>{run.model}</code>,
          Version: <code title={run.versionId}>{shortId(run.versionId)}</code>,
          Warnings: run.warnings?.join(', '),
          Tenant: run.tenantId,
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

const tokens = (total: number, part: number | null, name: string) =>
  part ? `${formatCount(total)} (${formatCount(part)} ${name})` : formatCount(total)
