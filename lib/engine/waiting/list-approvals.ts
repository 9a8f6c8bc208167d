import pLimit from 'p-limit'
import { limitToAgents, resolveExecutionId } from '../../access/executions.ts'
import { resolveTenant } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { BY_APPROVAL, BY_CREATION, type ListPosition, type PageQuery, parsePage } from '../../core/cursor.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page, System } from '../../core/ports/system.ts'
import { ExecutionNotFound } from '../../core/resource-errors.ts'
import type { RecordedDecision, StepStore } from '../../core/step.ts'
import type { Decision } from '../../core/wait.ts'
import { type Approval, approvalsOf, openApprovals, readStep, storedDecision } from './approvals.ts'
import { sendWake } from './wake.ts'

type Stores = Parameters<typeof sendWake>[0] & {
  agents: AgentStore
  executions: Pick<ExecutionStore, 'getSummary' | 'isVisible' | 'listSummaries'>
  steps: Pick<StepStore, 'list' | 'listDecisions'>
  system: System
}

type Query = {
  access: Access
  /** ID or slug. By default, the approvals of all agents. */
  agent?: string | undefined
  tenantId?: string | undefined
  page: PageQuery
}

export type ListedApproval = Approval & { execution: ExecutionSummary; decided?: Decision }

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

/**
 * A page of what people have decided, the latest decision first. Decisions on executions that the token may not see,
 * or that are deleted, are left out.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token, InvalidCursor
 */
export async function listDecided(
  stores: Stores,
  { access, agent, tenantId, page }: Query,
): Promise<Page<ListedApproval>> {
  const agentId = await findAgentId(stores.agents, access, agent)
  const tenant = resolveTenant(access, tenantId)
  const { organizationId } = access
  const { items, next } = await stores.steps.listDecisions({
    organizationId,
    ...parsePage(page, BY_CREATION),
  })
  const read = pLimit(MAX_READS)
  const found = await Promise.all(
    items.map((item) => read(() => approvalsDecidedAt(stores, access, item).catch(nullIfNotFound))),
  )
  const listed: ListedApproval[] = []
  let bytes = 0
  let last: RecordedDecision | undefined
  for (const [index, approvals] of found.entries()) {
    const matching = (approvals ?? []).filter(
      ({ id, execution }) =>
        (agentId === null || execution.agentId === agentId) &&
        (tenant === undefined || execution.tenantId === tenant) &&
        !listed.some((each) => each.id === id && each.execution.id === execution.id),
    )
    bytes += Buffer.byteLength(JSON.stringify(matching.map(({ input, decided }) => [input, decided?.input])))
    if (bytes > MAX_PAGE_BYTES && last) return { items: listed, next: { order: orderOf(last) } }
    listed.push(...matching)
    if (approvals) last = items[index]
  }
  if (next === null || found.at(-1)) return { items: listed, next }
  // The position says nothing of executions that the token may not see.
  return { items: listed, next: { order: last ? orderOf(last) : next.order.replace(/#.*/, `#${NO_ID}`) } }
}

const NO_ID = '00000000-0000-0000-0000-000000000000'
const orderOf = ({ decidedAt, executionId }: RecordedDecision): string => `${decidedAt}#${executionId}`

const nullIfNotFound = (error: unknown): null => {
  if (error instanceof ExecutionNotFound) return null
  throw error
}

/** @throws ExecutionNotFound */
async function approvalsDecidedAt(
  { executions, steps }: Stores,
  access: Access,
  { executionId, number, decidedAt }: RecordedDecision,
): Promise<ListedApproval[]> {
  const id = await resolveExecutionId(executions, { access, executionId })
  const execution = await executions.getSummary({ organizationId: access.organizationId, id })
  const recorded = execution && (await readStep(steps, id, number))
  if (!recorded) throw new ExecutionNotFound()
  return approvalsOf(recorded).flatMap((approval) => {
    const decided = storedDecision(recorded, approval.id)
    return decided?.decidedAt === decidedAt ? [{ ...approval, execution, decided }] : []
  })
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
