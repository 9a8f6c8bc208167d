import './run.css'
import { useMemo, useState } from 'preact/hooks'
import { shortId } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { AgentLink, RunMarks, StatusBadge } from '../components/values.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { withProgress } from '../trace/trace.ts'
import { TracePanel } from '../trace/trace-panel.tsx'
import { RunActions } from './run-actions.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunValues } from './run-values.tsx'
import { useRun } from './use-run.ts'

type Props = { executionId: string; query: URLSearchParams }

/** One execution: what happened in it, and the detail of each part. The chosen item of the trace is in the URL. */
export function RunPage({ executionId, query }: Props) {
  const { run: stored, steps, hasAllSteps, error, isReconnecting, ...actions } = useRun(executionId)
  const run = useMemo(() => stored && withProgress(stored, steps), [stored, steps])
  const [isDeleted, setIsDeleted] = useState(false)
  if (isDeleted) return <DeletedRun executionId={executionId} />
  const select = (id: string) =>
    navigate(toHref(toPath('runs', executionId), { step: id }), { replace: true })
  return (
    <Page
      title={`Run ${shortId(executionId)}`}
      parent={
        <>
          <a href="#/runs">Runs</a>
          {run && (
            <>
              {' '}
              of <AgentLink agentId={run.documentId} />
            </>
          )}
        </>
      }
      detail={
        run && (
          <>
            <StatusBadge status={run.status} code={run.error?.code} isWaiting={run.waitingFor !== null} />
            <RunMarks run={run} />
          </>
        )
      }
      actions={run && <RunActions run={run} onChange={actions.setRun} onDelete={() => setIsDeleted(true)} />}
    >
      {error && <ErrorBox error={error} onRetry={actions.reload} />}
      {!run && !error && <Spinner label="Loading the run…" />}
      {run && (
        <div class="stack">
          <RunFacts run={run} />
          {isReconnecting && run.status === 'IN_PROGRESS' && (
            <p class="muted" role="status">
              The connection was lost. Reconnecting…
            </p>
          )}
          <TracePanel
            run={run}
            steps={steps}
            hasAllSteps={hasAllSteps || error !== null}
            selectedId={query.get('step')}
            onSelect={select}
            onLoadStep={actions.loadStep}
          >
            <RunValues run={run} onLoadValues={actions.loadValues} />
          </TracePanel>
        </div>
      )}
    </Page>
  )
}

const DeletedRun = ({ executionId }: { executionId: string }) => (
  <Page key="deleted" title="Run deleted" parent={<a href="#/runs">Runs</a>}>
    <p>
      The run <code>{executionId}</code> and everything that belongs to it are deleted.
    </p>
  </Page>
)
