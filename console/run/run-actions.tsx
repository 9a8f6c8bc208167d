import { useRef } from 'preact/hooks'
import type { ExecutionRecord, ExecutionStateRecord } from '../../lib/contract/records/execution.ts'
import { useAgents } from '../api/agents.ts'
import { ApiError } from '../api/api-error.ts'
import { newIdempotencyKey, post } from '../api/request.ts'
import { pathOfRun } from '../api/runs.ts'
import { announce } from '../components/button.tsx'
import { StartButton, useAction } from '../components/dialog.tsx'
import { ConfirmButton, DeleteButton, DialogButton } from '../components/form-dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { FeedbackDialog } from './feedback-dialog.tsx'

type Props = {
  run: ExecutionRecord
  onChange: (run: ExecutionRecord) => void
  onDelete: () => void
}

export function RunActions({ run, onChange, onDelete }: Props) {
  const [mayRun, mayManage, mayReview] = [useScope('run'), useScope('manage'), useScope('review')]
  const slug = useAgents()?.get(run.documentId)?.slug ?? run.documentId
  const isOpen = run.status === 'IN_PROGRESS'
  const path = pathOfRun(run.id)
  return (
    <>
      {mayRun && <RerunButtons run={run} />}
      {mayRun && (
        <TextLink
          class="button"
          href={toHref(toPath('agents', slug, 'try'), { from: run.id })}
          text="Edit and run…"
        />
      )}
      <TextLink class="button" href={compareHref(run)} text="Compare with…" />
      <DialogButton
        label={run.feedback ? 'Change feedback…' : 'Give feedback…'}
        isOffered={(mayRun || mayManage || mayReview) && !isOpen}
      >
        {(close) => <FeedbackDialog run={run} onChange={onChange} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        label="Cancel run…"
        class="danger"
        isOffered={mayRun && isOpen}
        asks={{ title: 'Cancel this run?', yes: 'Cancel run', no: 'Keep running' }}
        action={async () => onChange({ ...run, ...(await post<ExecutionRecord>(`${path}/cancel`)) })}
        done="The run is cancelled."
        text="It ends at once, as cancelled, and cannot be continued. Its worker stops within 10 seconds; a tool call can still happen in that time."
      />
      <DeleteButton
        noun="run"
        path={path}
        isOffered={mayManage && !isOpen}
        onDone={onDelete}
        text="Its record, steps, payloads, feedback and cache entry are deleted. This cannot be undone. Agents that it called have runs of their own, which stay."
      />
    </>
  )
}

const compareHref = ({ id, documentId, originalExecutionId }: ExecutionRecord) =>
  toHref('/compare', { a: id, agent: documentId, original: originalExecutionId })

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
  const starting = useAction(async () => {
    key.current ??= newIdempotencyKey()
    try {
      const { id } = await post<ExecutionStateRecord>(`/v1/agent_executions/${run.id}/rerun`, {
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
      <StartButton of={starting} label={label} title={help} />
      {starting.error && <ErrorBox error={starting.error} />}
    </>
  )
}
