import { useState } from 'preact/hooks'
import type { VersionRecord } from '../../lib/contract/records/agent.ts'
import type { BatchRecord, BatchStateRecord } from '../../lib/contract/records/batch.ts'
import { nameOfVersion, useVersionName } from '../api/agents.ts'
import { newIdempotencyKey, post } from '../api/request.ts'
import { useList } from '../api/use-list.ts'
import { SelectField } from '../components/field.tsx'
import { ConfirmButton, DeleteButton } from '../components/form-dialog.tsx'
import { formatCountOf } from '../components/format.ts'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { DownloadResults } from './download-results.tsx'

type Props = {
  batch: BatchRecord
  onChange: (batch: BatchRecord) => void
}

export function BatchActions({ batch, onChange }: Props) {
  const [mayRun, mayManage] = [useScope('run'), useScope('manage')]
  const [key] = useState(newIdempotencyKey)
  const [version, setVersion] = useState(batch.versionId)
  const hasEnded = batch.status === 'ENDED'
  const path = `/v1/batches/${encodeURIComponent(batch.id)}`

  async function retry() {
    const { id } = await post<BatchRecord>(`${path}/retry-failed`, {
      headers: { 'Idempotency-Key': `${key} ${version}` },
      query: { version },
    })
    navigate(toHref(toPath('batches', id)))
  }

  return (
    <>
      <DownloadResults batch={batch} />
      <ConfirmButton
        label="Retry failed…"
        isOffered={mayRun && hasEnded && batch.counts.ERROR > 0}
        asks={{
          title: `Run ${formatCountOf(batch.counts.ERROR, 'line')} again?`,
          yes: 'Retry failed',
          no: 'Not now',
        }}
        action={retry}
        done="The failed lines run again, as a new batch."
        text="A new batch starts with the lines that failed or were not started, with the same options. It costs as any batch; this one stays as it is. You can cancel the new one."
      >
        <VersionField batch={batch} value={version} onChange={setVersion} />
      </ConfirmButton>
      <ConfirmButton
        label="Cancel…"
        class="danger"
        isOffered={mayRun && batch.status === 'IN_PROGRESS'}
        asks={{ title: 'Cancel this batch?', yes: 'Cancel batch', no: 'Keep running' }}
        action={async () => onChange({ ...batch, ...(await post<BatchStateRecord>(`${path}/cancel`)) })}
        done="The batch is being cancelled."
      >
        <p>
          No further line starts, and open runs end in the error <code>Cancelled</code>. What has ended stays.
          Afterwards, “Retry failed” runs the rest as a new batch.
        </p>
      </ConfirmButton>
      <DeleteButton
        noun="batch"
        path={path}
        isOffered={mayManage && hasEnded}
        onDone={() => navigate('#/batches')}
        text={`Its ${formatCountOf(batch.lines, 'run')} with their results are deleted, too. This cannot be undone: download the results first if you need them.`}
      />
    </>
  )
}

type VersionProps = { batch: BatchRecord; value: string; onChange: (versionId: string) => void }

/** Which version the lines run on: that of the batch, or one of the newest. Bound tokens see only the first. */
function VersionField({ batch: { documentId, versionId }, ...field }: VersionProps) {
  const { items } = useList<VersionRecord>(`/v1/agents/${documentId}/versions`, { query: { limit: 20 } })
  const own = useVersionName(null, versionId)
  const others = items.filter(({ id }) => id !== versionId)
  const found = items.find(({ id }) => id === versionId)
  return (
    <SelectField
      label="Version"
      {...field}
      choices={[
        [versionId, `${found ? nameOfVersion(found) : own}, as before`],
        ...others.map((each): [string, string] => [
          each.id,
          `${nameOfVersion(each)}${each.status === 'DRAFT' ? ' (draft)' : ''}`,
        ]),
      ]}
    />
  )
}
