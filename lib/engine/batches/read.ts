import { resolveTenant, visibilityOf } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { type Batch, type CountedBatch, lineExecutionId, sumTotals, waitingIn } from '../../core/batch.ts'
import { BY_ID, BY_LINE, type PageQuery, parsePage } from '../../core/cursor.ts'
import { type Execution, type ExecutionSummary, isFinishedIn } from '../../core/execution.ts'
import { isUuid } from '../../core/ids.ts'
import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page } from '../../core/ports/system.ts'
import { BatchNotFound, TrialNotFound } from '../../core/resource-errors.ts'
import { parseFinished } from '../executions/list-executions.ts'

/** `isTrial`: to a trial, of which readers of batches know nothing. */
export type BatchReference = { access: Access; batchId: string; isTrial?: boolean }

type Batches = { batches: Pick<BatchStore, 'get' | 'listLanes'> }

/** @throws BatchNotFound or TrialNotFound, also for one that the token may not see */
export async function findBatch(
  { batches }: { batches: Pick<BatchStore, 'get'> },
  { access, batchId, isTrial = false }: BatchReference,
): Promise<Batch> {
  const { organizationId, agentIds, tenantId } = visibilityOf(access)
  const batch = isUuid(batchId) ? await batches.get({ organizationId, id: batchId.toLowerCase() }) : null
  const isVisible =
    batch &&
    (batch.trial !== null) === isTrial &&
    (agentIds?.includes(batch.agentId) ?? true) &&
    (tenantId === null || batch.tenantId === tenantId)
  if (!isVisible) throw isTrial ? new TrialNotFound() : new BatchNotFound()
  return batch
}

/** @throws BatchNotFound, TrialNotFound */
export const getBatch = async (stores: Batches, reference: BatchReference): Promise<CountedBatch> =>
  countLines(stores, await findBatch(stores, reference))

/** The lanes of an open batch have the totals. */
export async function countLines({ batches }: Batches, batch: Batch): Promise<CountedBatch> {
  const lanes = batch.totals ? [] : await batches.listLanes({ batch })
  return { batch, totals: batch.totals ?? sumTotals(lanes), ...waitingIn(lanes) }
}

export type BatchQuery = PageQuery & {
  /** ID or slug. */
  agent?: string | undefined
  tenantId?: string | undefined
  /** Of trials. */
  version?: string | undefined
}

/**
 * A page of the batches, or of the trials, that a token may see, newest first.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token, InvalidCursor
 */
export async function listBatches(
  { agents, batches }: { agents: AgentStore; batches: BatchStore },
  {
    access,
    query: { agent, tenantId, version, ...page },
    isTrial = false,
  }: Pick<BatchReference, 'access' | 'isTrial'> & { query: BatchQuery },
): Promise<Page<CountedBatch>> {
  const { organizationId, agentIds } = visibilityOf(access)
  const agentId = await findAgentId(agents, access, agent)
  const { items, next } = await batches.list({
    organizationId,
    agentIds: agentId === null ? agentIds : [agentId],
    tenantId: resolveTenant(access, tenantId) ?? null,
    versionId: version ?? null,
    isTrial,
    ...parsePage(page, BY_ID),
  })
  return { items: await Promise.all(items.map((batch) => countLines({ batches }, batch))), next }
}

export type LineExecutionsQuery = PageQuery & {
  status?: Execution['status'] | undefined
  fields?: 'all' | 'summary' | undefined
  /** RFC 3339. */
  finishedFrom?: string | undefined
  finishedTo?: string | undefined
}

/** Pages without a matching execution that one request reads. */
const MAX_READS = 10

/**
 * A page of the executions of a batch, in the order of their lines, without those that do not exist or have another
 * status.
 * @throws BatchNotFound, InvalidCursor, InvalidQueryParameter
 */
export async function listLineExecutions(
  {
    batches,
    executions,
  }: { batches: Pick<BatchStore, 'get'>; executions: Pick<ExecutionStore, 'readMany' | 'readSummaries'> },
  {
    query: { status, fields, finishedFrom, finishedTo, ...query },
    ...reference
  }: BatchReference & { query: LineExecutionsQuery },
): Promise<Page<Execution | ExecutionSummary>> {
  const { limit, after } = parsePage(query, BY_LINE)
  const range = parseFinished({ finishedFrom, finishedTo })
  const batch = await findBatch({ batches }, reference)
  const { organizationId } = batch
  const read = fields === 'summary' ? executions.readSummaries : executions.readMany
  const items: (Execution | ExecutionSummary)[] = []
  let line = Number(after?.order ?? 0)
  let bytes = 0
  for (let reads = 0; reads < MAX_READS && line < batch.lines && items.length === 0; reads++) {
    const count = Math.min(limit, batch.lines - line)
    const ids = Array.from({ length: count }, (_, index) => lineExecutionId(batch, line + index))
    for await (const found of read({ organizationId, ids })) {
      const isListed =
        found && (status === undefined || found.status === status) && isFinishedIn(found, range)
      const execution = isListed ? found : null
      if (execution) bytes += fields === 'summary' ? 0 : Buffer.byteLength(JSON.stringify(execution))
      // The next page begins with it.
      if (bytes > MAX_PAGE_BYTES && items.length > 0) return { items, next: { order: String(line) } }
      if (execution) items.push(execution)
      line++
    }
  }
  return { items, next: line < batch.lines ? { order: String(line) } : null }
}
