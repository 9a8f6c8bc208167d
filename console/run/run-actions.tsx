import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { useAgents } from '../api/agents.ts'
import { requestJson, send } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { FeedbackDialog } from './feedback-dialog.tsx'
import { RerunButtons } from './rerun-buttons.tsx'

type Props = {
  run: ExecutionRecord
  /** With the record after an action. */
  onChange: (run: ExecutionRecord) => void
  onDelete: () => void
}

/** What can be done with a run in its state and with the scopes of the token. */
export function RunActions({ run, onChange, onDelete }: Props) {
  const [opened, setOpened] = useState<'cancel' | 'delete' | 'feedback' | null>(null)
  const [mayRun, mayManage, mayReview] = [useScope('run'), useScope('manage'), useScope('review')]
  const slug = useAgents()?.get(run.documentId)?.slug ?? run.documentId
  const isOpen = run.status === 'IN_PROGRESS'
  const close = () => setOpened(null)
  return (
    <>
      {mayRun && <RerunButtons run={run} />}
      {mayRun && (
        <a class="button" href={toHref(toPath('agents', slug, 'try'), { from: run.id })}>
          Edit and run…
        </a>
      )}
      <a class="button" href={compareHref(run)}>
        Compare with…
      </a>
      {(mayRun || mayManage || mayReview) && !isOpen && (
        <button type="button" onClick={() => setOpened('feedback')}>
          {run.feedback ? 'Change feedback…' : 'Give feedback…'}
        </button>
      )}
      {mayRun && isOpen && (
        <button type="button" class="danger" onClick={() => setOpened('cancel')}>
          Cancel run…
        </button>
      )}
      {mayManage && !isOpen && (
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          Delete…
        </button>
      )}
      {opened === 'cancel' && <CancelDialog run={run} onChange={onChange} onClose={close} />}
      {opened === 'delete' && <DeleteDialog run={run} onDelete={onDelete} onClose={close} />}
      {opened === 'feedback' && <FeedbackDialog run={run} onChange={onChange} onClose={close} />}
    </>
  )
}

const compareHref = ({ id, documentId, originalExecutionId }: ExecutionRecord) =>
  toHref('/compare', { a: id, agent: documentId, original: originalExecutionId })

type CancelProps = { run: ExecutionRecord; onChange: (run: ExecutionRecord) => void; onClose: () => void }

function CancelDialog({ run, onChange, onClose }: CancelProps) {
  async function cancel() {
    const changed = await requestJson<ExecutionRecord>(`/v1/agent_executions/${run.id}/cancel`, {
      method: 'POST',
    })
    onChange({ ...run, ...changed })
    announce('The run is cancelled.')
    onClose()
  }
  return (
    <ConfirmDialog
      title="Cancel this run?"
      label="Cancel run"
      keepLabel="Keep running"
      action={cancel}
      onClose={onClose}
    >
      <p>
        It ends at once, as cancelled, and cannot be continued. Its worker stops within 10 seconds; a tool
        call can still happen in that time.
      </p>
    </ConfirmDialog>
  )
}

type DeleteProps = { run: ExecutionRecord; onDelete: () => void; onClose: () => void }

function DeleteDialog({ run, onDelete, onClose }: DeleteProps) {
  async function deleteRun() {
    await send(`/v1/agent_executions/${run.id}`, { method: 'DELETE' })
    announce('The run is deleted.')
    onClose()
    onDelete()
  }
  return (
    <ConfirmDialog
      title="Delete this run?"
      label="Delete run"
      keepLabel="Keep run"
      action={deleteRun}
      onClose={onClose}
    >
      <p>
        Its record, steps, payloads, feedback and cache entry are deleted. This cannot be undone. Agents that
        it called have runs of their own, which stay.
      </p>
    </ConfirmDialog>
  )
}
