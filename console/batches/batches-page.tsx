import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { useList } from '../api/use-list.ts'
import { AGENT_FILTER, TENANT_FILTER } from '../components/filters.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCount } from '../components/format.ts'
import { AgentLink, IdLink, Time } from '../components/values.tsx'
import { listPage } from '../list-page.tsx'
import { formatBatchCost } from './batches.ts'
import { BatchStatus, ProgressBar } from './progress.tsx'
import { batchForm, StartBatchDialog } from './start-batch-dialog.tsx'

export { BatchPage } from './batch-page.tsx'

const isOpen = ({ status }: BatchRecord) => status !== 'ENDED'

export const BatchesPage = listPage({
  title: 'Batches',
  path: '/batches',
  scope: 'read',
  filters: { ...AGENT_FILTER, ...TENANT_FILTER },
  useItems: (values) =>
    useList<BatchRecord>('/v1/batches', {
      query: { ...values, limit: 50 },
      poll: { limit: 20, everyMs: (batches) => (batches.some(isOpen) ? 5_000 : 30_000) },
    }),
  noun: 'batch',
  plural: 'batches',
  caption: 'Batches, newest first',
  columns: {
    Batch: ({ id }) => <IdLink section="batches" id={id} />,
    Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
    Status: (batch) => <BatchStatus batch={batch} />,
    Progress: (batch) => (
      <>
        <ProgressBar batch={batch} />
        <span class="muted">
          {formatCount(batch.counts.SUCCESS + batch.counts.ERROR)} of {formatCount(batch.lines)}
        </span>
      </>
    ),
    Failed: { numeric: ({ counts }) => formatCount(counts.ERROR) },
    Cost: { numeric: formatBatchCost },
    Tenant: { text: ({ tenantId }) => tenantId },
    Started: ({ createdAt }) => <Time value={createdAt} />,
  },
  empty: () =>
    'There are no batches yet. A batch runs an agent with up to 10,000 inputs: start one with a file of JSON lines.',
  Actions: ({ values: { agent } }) => (
    <DialogButton class="primary" label="Start a batch…" scope="run" form={batchForm(agent)}>
      {(close) => <StartBatchDialog agent={agent} onClose={close} />}
    </DialogButton>
  ),
})
