import { ServiceError, type Violation } from '../../core/errors.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import type { Teachers } from '../../core/learning.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { PageRequest } from '../../core/ports/system.ts'
import { zip } from '../../core/read-pages.ts'
import { InputSchemaMismatch } from '../../core/request-errors.ts'
import type { TrialSettings } from '../../core/trial.ts'

/** Executions that one request looks at. */
export const MAX_LOOKED_AT = 5_000
const PAGE_SIZE = 100

type Stores = { executions: Pick<ExecutionStore, 'listSummaries' | 'readFeedback' | 'readSummaries'> }

/** What a trial repeats. `hasModel`: its version is that of a model agent. `teachers`: whose feedback counts. */
type Agent = { organizationId: string; agentId: string; hasModel: boolean; teachers: Teachers }

export type Selection = Pick<TrialSettings, 'from' | 'to' | 'tenantId' | 'feedback'> & { limit: number }

/**
 * The ids of the newest executions of an agent that a trial can repeat. `isCut`: older ones were not looked at.
 * @throws ServiceError `InputSchemaMismatch` that says what was looked at, if there is none; Unavailable
 */
export async function selectOriginals(
  { executions }: Stores,
  agent: Agent,
  { limit, ...selection }: Selection,
): Promise<{ ids: string[]; isCut: boolean }> {
  const { organizationId, agentId } = agent
  const { from, to, tenantId, feedback } = selection
  const filter = { organizationId, agentId, tenantId, status: null, from: toTime(from), to: toTime(to) }
  const selected: string[] = []
  const refused = new Map<string, number>()
  let lookedAt = 0
  let after: PageRequest['after'] = null
  do {
    const { items, next } = await executions.listSummaries({ ...filter, limit: PAGE_SIZE, after })
    const usable = items.filter((each) => {
      const reason = findReason(each, agent) ?? (hasTimedOut(each) ? 'timed out' : null)
      if (reason) count(refused, reason)
      return !reason
    })
    const rated = await keepRated({ executions }, agent, usable, feedback)
    const lacks = `${WITHOUT[feedback ?? 'rated']}${agent.teachers === 'all' ? '' : ' of a reviewer'}`
    for (let n = rated.length; n < usable.length; n++) count(refused, lacks)
    selected.push(...rated)
    lookedAt += items.length
    after = next
  } while (after && selected.length < limit && lookedAt < MAX_LOOKED_AT)
  if (selected.length > 0)
    return { ids: selected.slice(0, limit), isCut: after !== null && selected.length < limit }
  const reasons = [...refused].map(([reason, number]) => `${reason}: ${number}`).join(', ')
  const found =
    lookedAt === 0
      ? `The agent has no executions${describe(selection)}`
      : `None of the ${lookedAt} newest executions${describe(selection)} can be repeated (${reasons})`
  const hint = after ? ' Older ones were not looked at: narrow the time with from and to.' : ''
  throw new ServiceError('InputSchemaMismatch', `${found}.${hint}`)
}

/** Which executions were asked for, after their name. */
function describe({ from, to, tenantId }: Omit<Selection, 'limit'>): string {
  const times = [...(from === null ? [] : [`since ${from}`]), ...(to === null ? [] : [`before ${to}`])]
  return `${tenantId === null ? '' : ` of the tenant ${tenantId}`}${times.length > 0 ? ` ${times.join(' and ')}` : ''}`
}

/**
 * The executions that a request names, each once, in its order.
 * @throws InputSchemaMismatch for those that a trial of the agent cannot repeat
 */
export async function checkOriginals({ executions }: Stores, agent: Agent, ids: string[]): Promise<string[]> {
  const { organizationId, agentId } = agent
  const violations: Violation[] = []
  const unique = [...new Set(ids)]
  const read = executions.readSummaries({ organizationId, ids: unique })
  for await (const [id, summary] of zip(unique, read)) {
    // Nobody learns of the executions of other agents.
    const isKnown = summary?.agentId === agentId
    const reason = isKnown ? findReason(summary, agent) : null
    const path = `/executions/${ids.indexOf(id)}`
    if (!isKnown) violations.push({ path, message: `${path} is not an execution of the agent.` })
    else if (reason) violations.push({ path, message: `${path} cannot be repeated: it is ${reason}.` })
    if (violations.length === MAX_VIOLATIONS) break
  }
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  return unique
}

/** Why a trial cannot repeat an execution; null if it can. */
function findReason(summary: ExecutionSummary, { hasModel }: Agent): string | null {
  if (!isFinal(summary)) return 'in progress'
  if (summary.source === 'TRIAL' || summary.scored?.trial) return 'of a trial, or a rerun with recordings'
  if (summary.source === 'AGENT') return 'called by an agent'
  if (summary.isDraft) return 'of a draft'
  if (summary.cached) return 'a copy of a cached result'
  if (summary.error?.code === CANCELLED.code) return 'cancelled'
  // Code agents and remote agents may have none.
  return summary.steps === 0 && hasModel ? 'without steps' : null
}

/** Where and when it ran decides about its end; a request can name it nevertheless. */
const hasTimedOut = ({ error }: ExecutionSummary): boolean =>
  ['TimedOut', 'DeadlineExceeded', 'WaitLimitExceeded'].includes(error?.code ?? '')

const WITHOUT = { corrected: 'without a corrected output', rated: 'without feedback' } as const

async function keepRated(
  { executions }: Stores,
  { organizationId, teachers }: Agent,
  summaries: ExecutionSummary[],
  feedback: Selection['feedback'],
): Promise<string[]> {
  const ids = summaries.map(({ id }) => id)
  if (!feedback) return ids
  const kept: string[] = []
  for await (const [id, given] of zip(ids, executions.readFeedback({ organizationId, ids, teachers })))
    if (given && (feedback === 'rated' || given.correctedOutput !== null)) kept.push(id)
  return kept
}

const toTime = (text: string | null) => (text === null ? undefined : Date.parse(text))

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
