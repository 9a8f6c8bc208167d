import { useRef } from 'preact/hooks'
import type { ExecutionRecord, ExecutionStateRecord } from '../../lib/contract/records/execution.ts'
import { useAgents } from '../api/agents.ts'
import { ApiError } from '../api/api-error.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { requestJson } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'

type Run = Pick<ExecutionRecord, 'id' | 'documentId' | 'versionId'>

const EFFECTS =
  'with the same input, tenant and options. Tools are called and models are paid for again; the new run can be cancelled.'

/** Repeats a run as it was, also on its own version if that is no longer the current one. */
export function RerunButtons({ run }: { run: Run }) {
  const mayManage = useScope('manage')
  const current = useAgents()?.get(run.documentId)?.currentVersionId
  const isOutdated = current != null && current !== run.versionId
  return (
    <>
      <RerunButton run={run} label="Run again" help={`Starts a new run on the current version, ${EFFECTS}`} />
      {mayManage && isOutdated && (
        <RerunButton
          run={run}
          versionId={run.versionId}
          label="Run again on its version"
          help={`Starts a new run on the version of this run, ${EFFECTS}`}
        />
      )}
    </>
  )
}

type ButtonProps = { run: Run; versionId?: string; label: string; help: string }

function RerunButton({ run, versionId, label, help }: ButtonProps) {
  // Two clicks, and a click after an error that leaves open whether there is a run, lead to one run.
  const key = useRef<string | null>(null)
  const { isRunning, error, start } = useAction(async () => {
    key.current ??= newIdempotencyKey()
    try {
      const { id } = await requestJson<ExecutionStateRecord>(`/v1/agent_executions/${run.id}/rerun`, {
        method: 'POST',
        headers: { 'Idempotency-Key': key.current },
        body: versionId && JSON.stringify({ versionId }),
      })
      announce('The run is repeated. This is the new run.')
      navigate(toHref(toPath('runs', id)))
    } catch (cause) {
      if (cause instanceof ApiError && cause.status >= 400 && cause.status < 500) key.current = null
      throw cause
    }
  })
  return (
    <>
      <button type="button" disabled={isRunning} title={help} onClick={start}>
        {label}
      </button>
      {error && <ErrorBox error={error} />}
    </>
  )
}
