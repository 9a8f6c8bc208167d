import type { ExecutionRecord } from '../../../lib/api/schemas/execution-record.ts'
import { send } from '../../api/request.ts'
import { announce } from '../../components/page/announcer.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'

type Props = { run: ExecutionRecord; onDelete: () => void; onClose: () => void }

export function DeleteDialog({ run, onDelete, onClose }: Props) {
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
