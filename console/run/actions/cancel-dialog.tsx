import type { ExecutionRecord } from '../../../lib/api/schemas/execution-record.ts'
import { requestJson } from '../../api/request.ts'
import { announce } from '../../components/page/announcer.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'

type Props = { run: ExecutionRecord; onChange: (run: ExecutionRecord) => void; onClose: () => void }

export function CancelDialog({ run, onChange, onClose }: Props) {
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
        It ends in ERROR <code>Cancelled</code> at once. Its worker stops within 10 seconds; a tool call can
        still happen in that time.
      </p>
    </ConfirmDialog>
  )
}
