import './run.css'
import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { formatCount, shortId } from '../components/format.ts'
import { JsonView, TextPortions } from '../components/json-view.tsx'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { AgentLink, StatusBadge } from '../components/values.tsx'
import { RunActions } from './run-actions.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunInput } from './run-input.tsx'
import { StepList, type StepTarget } from './step-list.tsx'
import { TimelineChart } from './timeline-chart.tsx'
import { useRun } from './use-run.ts'

/** One execution: what went in and came out, and what happened in between. */
export function RunPage({ executionId }: { executionId: string }) {
  const { run, steps, hasAllSteps, error, isReconnecting, reload, setRun } = useRun(executionId)
  const [target, setTarget] = useState<StepTarget | null>(null)
  const [isDeleted, setIsDeleted] = useState(false)
  if (isDeleted) return <DeletedRun executionId={executionId} />
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
      detail={run && <StatusBadge status={run.status} code={run.error?.code} />}
      actions={run && <RunActions run={run} onChange={setRun} onDelete={() => setIsDeleted(true)} />}
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!run && !error && <Spinner label="Loading the run…" />}
      {run && (
        <div class="stack">
          <RunFacts run={run} />
          {run.error && <RunError error={run.error} />}
          <div class="grid">
            <RunInput run={run} />
            <RunOutput run={run} />
          </div>
          {run.logs !== null && <RunLogs logs={run.logs} />}
          {run.feedback && <RunFeedback feedback={run.feedback} />}
          <section class="card" aria-labelledby="steps-title">
            <h2 id="steps-title">Timeline</h2>
            {isReconnecting && run.status === 'IN_PROGRESS' && (
              <p class="muted" role="status">
                The connection was lost. Reconnecting…
              </p>
            )}
            {steps.length === 0 && !hasAllSteps && run.status !== 'IN_PROGRESS' && !error ? (
              <Spinner label="Loading steps…" />
            ) : (
              <>
                <TimelineChart run={run} steps={steps} onShow={setTarget} />
                <StepList run={run} steps={steps} target={target} />
              </>
            )}
          </section>
        </div>
      )}
    </Page>
  )
}

function RunError({ error }: { error: NonNullable<ExecutionRecord['error']> }) {
  const { code, message, ...details } = error
  return (
    <section class="error-box" aria-labelledby="error-title">
      <h2 id="error-title">
        Error <code>{code}</code>
      </h2>
      <pre class="long-text">
        <TextPortions text={message} />
      </pre>
      {Object.keys(details).length > 0 && <JsonView value={details} label="the details of the error" />}
    </section>
  )
}

function RunOutput({ run: { output, status, cachedDocumentExecutionId } }: { run: ExecutionRecord }) {
  return (
    <section class="card" aria-labelledby="output-title">
      <h2 id="output-title">
        Output {cachedDocumentExecutionId !== undefined && <span class="badge">cached</span>}
      </h2>
      {output ? (
        <JsonView value={output} label="the output" />
      ) : (
        <p class="muted">{status === 'IN_PROGRESS' ? 'No output yet: the run is in progress.' : 'None.'}</p>
      )}
    </section>
  )
}

const RunLogs = ({ logs }: { logs: string }) => (
  <section class="card" aria-labelledby="logs-title">
    <h2 id="logs-title">Logs</h2>
    <p class="muted">What the code of the agent printed: the last {formatCount(16_000)} characters.</p>
    <pre class="long-text">
      <TextPortions text={logs} />
    </pre>
  </section>
)

function RunFeedback({ feedback }: { feedback: NonNullable<ExecutionRecord['feedback']> }) {
  const { rating, note, correctedOutput } = feedback
  return (
    <section class="card" aria-labelledby="feedback-title">
      <h2 id="feedback-title">Feedback: {rating === 1 ? 'good' : 'bad'}</h2>
      {note && <p class="long-text">{note}</p>}
      {correctedOutput && (
        <>
          <h3>Corrected output</h3>
          <JsonView value={correctedOutput} label="the corrected output" />
        </>
      )}
    </section>
  )
}

const DeletedRun = ({ executionId }: { executionId: string }) => (
  <Page key="deleted" title="Run deleted" parent={<a href="#/runs">Runs</a>}>
    <p>
      The run <code>{executionId}</code> and everything that belongs to it are deleted.
    </p>
  </Page>
)
