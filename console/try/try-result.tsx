import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { runTimeOf } from '../api/runs.ts'
import { Button } from '../components/button.tsx'
import { formatCost, formatCount, formatDuration } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { ErrorBox, Facts } from '../components/page.tsx'
import { Duration, Elapsed, RunLink, StatusBadge } from '../components/values.tsx'
import { say, TextList, VisibleText } from '../components/visible-text.tsx'
import { labelOf, predicateOf } from '../schema/issue-text.ts'
import { useCheck } from '../schema/run-check.ts'
import { SchemaTable } from '../schema/schema-table.tsx'
import { openSchema } from '../schema/schema-view.ts'
import { RunError } from '../trace/trace-detail.tsx'
import { TracePanel } from '../trace/trace-panel.tsx'
import { TestCaseDialog } from './test-case-dialog.tsx'
import type { Try } from './use-try.ts'

type Props = {
  last: Try
  /** What was sent: JSON text. */
  input: string
  outputSchema: JsonObject
  onCancel: () => void
  onRetry: () => void
  onEdit: () => void
}

const UNFINISHED = { status: 'IN_PROGRESS', finishedAt: null } as const

export function TryResult({ last, input, outputSchema, onCancel, onRetry, onEdit }: Props) {
  const startedAt = new Date(last.startedAt).toISOString()
  const { run, error, isRunning, executionId, isCancelling, isReconnecting, steps } = last
  const heading = useRef<HTMLHeadingElement>(null)
  const [opensCase, setOpensCase] = useState(false)
  // The button that started the run is disabled now, and on a phone the result is far below it.
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    const { top } = heading.current?.getBoundingClientRect() ?? { top: 0 }
    if (top < 0 || top > window.innerHeight * 0.6) heading.current?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <section class="card stack" aria-labelledby="result-title">
      <div class="toolbar">
        <h2 id="result-title" ref={heading} tabIndex={-1}>
          Result {isRunning && <StatusBadge status="IN_PROGRESS" />}
          {run && <StatusBadge status={run.status} code={run.error?.code} />}
        </h2>
        <div class="actions">
          {isRunning && (
            <Button
              label={isCancelling ? 'Cancelling…' : 'Cancel run'}
              class="danger"
              disabled={isCancelling}
              onClick={onCancel}
            />
          )}
          {run && <Button label="As test case…" onClick={() => setOpensCase(true)} />}
          <Button label="Edit input" onClick={onEdit} />
        </div>
      </div>
      {/* The only thing that is announced: where the focus is, the heading says the rest. */}
      <p class="visually-hidden" role="status">
        {run ? describeEnd(run) : ''}
      </p>
      <Facts
        facts={{
          Run: executionId !== null && <RunLink executionId={executionId} />,
          Duration: isRunning ? <Elapsed since={startedAt} /> : run && <Duration ms={runTimeOf(run)} />,
          ...(run && factsOf(run, last.cacheStatus)),
        }}
      />
      {isReconnecting && isRunning && (
        <p class="muted" role="status">
          The connection was lost; the run continues. Reconnecting…
        </p>
      )}
      {error && <ErrorBox error={error} {...(!isRunning && executionId === null && { onRetry })} />}
      {run?.error && <RunError error={run.error} level={3} />}
      {opensCase && run && (
        <TestCaseDialog input={input} run={run} steps={steps} onClose={() => setOpensCase(false)} />
      )}
      {run?.output && <Output output={run.output as JsonObject} schema={outputSchema} />}
      {run && run.inputAdaptations.length > 0 && (
        <section aria-labelledby="adaptations-title">
          <h3 id="adaptations-title">The input was adapted to the schema</h3>
          <TextList texts={run.inputAdaptations.map(({ message }) => message)} max={50} />
        </section>
      )}
      {(steps.length > 0 || (isRunning && executionId !== null)) && (
        <section aria-label="Steps">
          <h3>Steps</h3>
          <TracePanel
            run={run ?? { ...UNFINISHED, createdAt: startedAt, startedAt }}
            steps={steps}
            live={last.live}
            hasAllSteps
          >
            <p class="muted">Choose a step to see its text, calls and results.</p>
          </TracePanel>
        </section>
      )}
    </section>
  )
}

function describeEnd(run: ExecutionRecord): string {
  const ms = runTimeOf(run)
  const after = ms === null ? '' : ` after ${formatDuration(ms)}`
  if (run.status === 'SUCCESS') return `The run succeeded${after}.`
  return run.error?.code === 'Cancelled'
    ? `The run was cancelled${after}.`
    : `The run failed${after}: ${run.error?.code}.`
}

/** @param status the header `Cache-Status` (RFC 9211); a result that was reused has a fact of its own */
function describeCache(status: string): string | null {
  if (!/;\s*fwd=miss\b/.test(status)) return null
  return /;\s*stored\b/.test(status) ? 'no earlier result; this one is kept' : 'no earlier result'
}

function factsOf(run: ExecutionRecord, cacheStatus: string | null) {
  return {
    Cached:
      run.cachedDocumentExecutionId && say`reuses ${<RunLink executionId={run.cachedDocumentExecutionId} />}`,
    Cache: cacheStatus && describeCache(cacheStatus),
    Model: run.model && <VisibleText text={run.model} class="mono" />,
    Tokens:
      run.steps > 0 && `${formatCount(run.usage.inputTokens)} in, ${formatCount(run.usage.outputTokens)} out`,
    Cost: run.steps > 0 && run.costUsd !== null && formatCost(run.costUsd),
    Tenant: run.tenantId,
  }
}

function Output({ output, schema }: { output: JsonObject; schema: JsonObject }) {
  const text = useMemo(() => JSON.stringify(output), [output])
  const { issues, isPending, error } = useCheck({ text, schema, mode: 'adapting' })
  const view = useMemo(() => openSchema(schema), [schema])
  return (
    <div class="grid">
      <section aria-labelledby="output-title">
        <h3 id="output-title">Output</h3>
        <p class={issues.length > 0 ? 'field-error' : 'muted'}>
          {error !== null
            ? `It could not be checked here: ${error}`
            : isPending
              ? 'Checking…'
              : issues.length === 0
                ? '✓ It matches the output schema.'
                : 'It does not match the output schema:'}
        </p>
        <TextList
          texts={issues.map((issue) => `${labelOf(issue.path, view) || 'The output'} ${predicateOf(issue)}`)}
        />
        <JsonView value={output} label="the output" />
      </section>
      <section aria-labelledby="output-schema-title">
        <h3 id="output-schema-title">Output schema</h3>
        <SchemaTable schema={schema} caption="Fields of the output" />
      </section>
    </div>
  )
}
