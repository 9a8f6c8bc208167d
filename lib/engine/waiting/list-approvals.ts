import pLimit from 'p-limit'
import { limitToAgents } from '../../access/executions.ts'
import { resolveTenant } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { BY_APPROVAL, type ListPosition, type PageQuery, parsePage } from '../../core/cursor.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page, System } from '../../core/ports/system.ts'
import type { StepStore } from '../../core/step.ts'
import { type Approval, openApprovals } from './approvals.ts'
import { sendWake } from './wake.ts'

type Stores = Parameters<typeof sendWake>[0] & {
  agents: AgentStore
  executions: Pick<ExecutionStore, 'listSummaries'>
  steps: Pick<StepStore, 'list'>
  system: System
}

type Query = {
  access: Access
  /** ID or slug. By default, the approvals of all agents. */
  agent?: string | undefined
  tenantId?: string | undefined
  page: PageQuery
}

export type ListedApproval = Approval & { execution: ExecutionSummary }

/** Executions whose steps are read at the same time. */
const MAX_READS = 10

/**
 * A page of the approvals that suspended executions wait for, those of the newest execution first. Those that are
 * decided, and those whose time is over, are left out.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token, InvalidCursor
 */
export async function listApprovals(
  stores: Stores,
  { access, agent, tenantId, page }: Query,
): Promise<Page<ListedApproval>> {
  const { limit, after } = parsePage(page, BY_APPROVAL)
  const [id, seen] = after?.order.split('#') ?? []
  const executions = await stores.executions.listSummaries({
    status: null,
    waiting: 'approval',
    tenantId: resolveTenant(access, tenantId) ?? null,
    ...limitToAgents(access, await findAgentId(stores.agents, access, agent)),
    limit,
    // An execution whose approvals did not fit the page is read again: `~` follows the characters of ids.
    after: seen === undefined ? after : { order: `${id}~` },
  })
  const read = pLimit(MAX_READS)
  const found = await Promise.all(
    executions.items.map((execution) => read(() => approvalsOfRun(stores, execution))),
  )
  const all = found.flat()
  const start = all.findIndex((each) => each.execution.id === id && each.id === seen) + 1
  return fitPage(all.slice(start), limit, executions.next)
}

/** A decided approval is also sent to its run, in case that who stored the decision died before. Best effort. */
async function approvalsOfRun(stores: Stores, execution: ExecutionSummary): Promise<ListedApproval[]> {
  const open = await openApprovals(stores, execution)
  const ids = new Set(open.map(({ id }) => id))
  const now = stores.system.now()
  const isDecided = execution.suspension?.waits.some(
    ({ kind, id = '', until }) => kind === 'approval' && Date.parse(until ?? '') > now && !ids.has(id),
  )
  if (isDecided) await sendWake(stores, execution).catch(() => undefined)
  return open.map((approval) => ({ ...approval, execution }))
}

/** What fits the limit and a response: one approval at least. */
function fitPage(all: ListedApproval[], limit: number, next: ListPosition | null): Page<ListedApproval> {
  let bytes = 0
  const end = all.findIndex(({ input }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(input))
    return index === limit || (index > 0 && bytes > MAX_PAGE_BYTES)
  })
  if (end === -1) return { items: all, next }
  const last = all[end - 1] as ListedApproval
  return { items: all.slice(0, end), next: { order: `${last.execution.id}#${last.id}` } }
}
