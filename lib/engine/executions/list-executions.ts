import { type ExecutionReference, limitToAgents, resolveExecutionId } from '../../access/executions.ts'
import { resolveTenant } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { BY_ID, BY_NUMBER, type PageQuery, parsePage } from '../../core/cursor.ts'
import type { Execution, ExecutionStatus, ExecutionSummary } from '../../core/execution.ts'
import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionSearch } from '../../core/ports/execution-reader.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page, SearchedPage } from '../../core/ports/system.ts'
import { InvalidQueryParameter } from '../../core/request-errors.ts'
import { ExecutionNotFound } from '../../core/resource-errors.ts'
import { KEY_FILTER_RULE, parseKeyFilter } from '../../core/search-keys.ts'
import type { RecordedStep, StepStore } from '../../core/step.ts'
import { parseFinished, parseTimeRange } from '../../core/time-range.ts'

/** What a request asks for. `from` and `to`: RFC 3339. */
export type ExecutionQuery = PageQuery & {
  /** ID or slug. By default, the executions of all agents. */
  agent?: string | undefined
  status?: ExecutionStatus | undefined
  /** Only suspended executions, or only others. */
  waiting?: boolean | undefined
  tenantId?: string | undefined
  /** See `parseKeyFilter`. */
  key?: string | undefined
  scores?: 'low' | undefined
  from?: string | undefined
  to?: string | undefined
  /** `summary`: without the payloads, which are not read. */
  fields?: 'all' | 'summary' | undefined
  version?: string | undefined
  /** RFC 3339. */
  finishedFrom?: string | undefined
  finishedTo?: string | undefined
} & Omit<ExecutionSearch, 'versionId' | 'finishedFrom' | 'finishedTo'>

type Stores = { agents: AgentStore; executions: Pick<ExecutionStore, 'list' | 'listSummaries'> }

/**
 * A page of the executions that a token may read, newest first.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token, InvalidCursor, InvalidQueryParameter
 */
export async function listExecutions(
  { agents, executions }: Stores,
  access: Access,
  {
    agent,
    status,
    waiting,
    tenantId,
    key,
    scores,
    from,
    to,
    fields,
    limit,
    cursor,
    version,
    finishedFrom,
    finishedTo,
    ...filters
  }: ExecutionQuery,
): Promise<SearchedPage<Execution | ExecutionSummary>> {
  if (waiting && status !== undefined && status !== 'IN_PROGRESS') throw new InvalidQueryParameter([WAITING])
  const finished = parseFinished({ finishedFrom, finishedTo })
  if (finished && (waiting || status === 'IN_PROGRESS')) throw new InvalidQueryParameter([FINAL])
  if (scores && (waiting || (status ?? 'SUCCESS') !== 'SUCCESS')) throw new InvalidQueryParameter([SCORED])
  const search = { ...filters, versionId: version, ...finished }
  const ofError = search.errorCode === undefined ? 'errorText' : 'errorCode'
  const isOfErrors = search[ofError] !== undefined
  if (isOfErrors && (waiting || (status ?? 'ERROR') !== 'ERROR'))
    throw new InvalidQueryParameter([onlyErrors(ofError)])
  const params = {
    status: isOfErrors ? ('ERROR' as const) : (status ?? null),
    ...(waiting !== undefined && { waiting: waiting ? ('any' as const) : ('none' as const) }),
    tenantId: resolveTenant(access, tenantId) ?? null,
    ...(key !== undefined && { key: toKeyFilter(key) }),
    scores,
    ...limitToAgents(access, await findAgentId(agents, access, agent)),
    ...parseTimeRange(from, to),
    ...parsePage({ limit, cursor }, BY_ID),
    ...(Object.values(search).some((value) => value !== undefined) && { search }),
  }
  return fields === 'summary' ? executions.listSummaries(params) : executions.list(params)
}

const WAITING = {
  path: 'waiting',
  message:
    'waiting=true can only be combined with status=IN_PROGRESS: suspended executions have this status.',
}

const SCORED = {
  path: 'scores',
  message: 'scores can only be combined with status=SUCCESS: only these executions have scores.',
}

const FINAL = {
  path: 'finishedFrom',
  message:
    'finishedFrom and finishedTo cannot be combined with status=IN_PROGRESS or waiting=true: these executions have not ended.',
}

const onlyErrors = (path: string) => ({
  path,
  message: `${path} can only be combined with status=ERROR: only these executions have an error.`,
})

function toKeyFilter(text: string) {
  const filter = parseKeyFilter(text)
  if (!filter) throw new InvalidQueryParameter([{ path: 'key', message: `key ${KEY_FILTER_RULE}.` }])
  return filter
}

type StepStores = {
  executions: Pick<ExecutionStore, 'get' | 'isVisible'>
  steps: Pick<StepStore, 'list'>
}

/** A page of the steps of an execution, in order. @throws ExecutionNotFound, InvalidCursor */
export async function listSteps(
  { executions, steps }: StepStores,
  reference: ExecutionReference,
  query: PageQuery,
): Promise<Page<RecordedStep>> {
  const page = parsePage(query, BY_NUMBER)
  const { organizationId } = reference.access
  const id = await resolveExecutionId(executions, reference)
  if (!(await executions.get({ organizationId, id }))) throw new ExecutionNotFound()
  return steps.list({ executionId: id, maxBytes: MAX_PAGE_BYTES, ...page })
}
