import { useState } from 'preact/hooks'
import type { BatchRecord, BatchStateRecord } from '../../lib/contract/records/batch.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { requestJson, send } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { formatCountOf } from '../components/format.ts'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { DownloadResults } from './download-results.tsx'

type Props = {
  batch: BatchRecord
  onChange: (batch: BatchRecord) => void
}

/** What can be done with a batch in its state and with the scopes of the token. */
export function BatchActions({ batch, onChange }: Props) {
  const [opened, setOpened] = useState<'cancel' | 'retry' | 'delete' | null>(null)
  const [mayRun, mayManage] = [useScope('run'), useScope('manage')]
  const hasEnded = batch.status === 'ENDED'
  const close = () => setOpened(null)
  const path = `/v1/batches/${encodeURIComponent(batch.id)}`

  async function cancel() {
    const changed = await requestJson<BatchRecord | BatchStateRecord>(`${path}/cancel`, { method: 'POST' })
    onChange({ ...batch, ...changed })
    announce('The batch is being cancelled.')
    close()
  }

  const [key] = useState(newIdempotencyKey)
  async function retry() {
    const headers = { 'Idempotency-Key': key }
    const retried = await requestJson<BatchRecord>(`${path}/retry-failed`, { method: 'POST', headers })
    announce('The failed lines run again, as a new batch.')
    close()
    navigate(toHref(toPath('batches', retried.id)))
  }

  async function remove() {
    await send(path, { method: 'DELETE' })
    announce('The batch is deleted.')
    close()
    navigate('#/batches')
  }

  const failed = formatCountOf(batch.counts.ERROR, 'line')
  return (
    <>
      <DownloadResults batch={batch} />
      {mayRun && hasEnded && batch.counts.ERROR > 0 && (
        <button type="button" onClick={() => setOpened('retry')}>
          Retry failed…
        </button>
      )}
      {mayRun && batch.status === 'IN_PROGRESS' && (
        <button type="button" class="danger" onClick={() => setOpened('cancel')}>
          Cancel…
        </button>
      )}
      {mayManage && hasEnded && (
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          Delete…
        </button>
      )}
      {opened === 'cancel' && (
        <ConfirmDialog
          title="Cancel this batch?"
          label="Cancel batch"
          keepLabel="Keep running"
          action={cancel}
          onClose={close}
        >
          <p>
            No further line starts, and open runs end in the error <code>Cancelled</code>. What has ended
            stays. Afterwards, “Retry failed” runs the rest as a new batch.
          </p>
        </ConfirmDialog>
      )}
      {opened === 'retry' && (
        <ConfirmDialog
          title={`Run ${failed} again?`}
          label="Retry failed"
          keepLabel="Not now"
          action={retry}
          onClose={close}
        >
          <p>
            A new batch starts with the lines that failed or were not started, on the same version and with
            the same options. It costs as any batch; this one stays as it is. You can cancel the new one.
          </p>
        </ConfirmDialog>
      )}
      {opened === 'delete' && (
        <ConfirmDialog
          title="Delete this batch?"
          label="Delete batch"
          keepLabel="Keep batch"
          action={remove}
          onClose={close}
        >
          <p>
            Its {formatCountOf(batch.lines, 'run')} with their results are deleted, too. This cannot be
            undone: download the results first if you need them.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
