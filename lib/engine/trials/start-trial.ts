import { idempotencyKeyOf } from '../../access/permissions.ts'
import { parseVersionId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { kindOf, type Version } from '../../core/agent.ts'
import type { Batch } from '../../core/batch.ts'
import type { Violation } from '../../core/errors.ts'
import { agentIdOf } from '../../core/ids.ts'
import { teachersOf } from '../../core/learning.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { InputSchemaMismatch, InvalidQueryParameter } from '../../core/request-errors.ts'
import { scorersOf, type TrialScorer } from '../../core/score-pairs.ts'
import { type ReplaySettings, sourceOf, TRIAL_RUNS, type TrialSettings } from '../../core/trial.ts'
import { toJsonPointer } from '../../schema/message-text.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { type AcceptStores, startBatch } from '../batches/accept.ts'
import { checkCostLimit } from '../submit/check-request.ts'
import { resolveTarget } from '../submit/run-request.ts'
import { checkOriginals, selectOriginals } from './select-originals.ts'

type Stores = AcceptStores & {
  executions: Pick<ExecutionStore, 'listSummaries' | 'readFeedback' | 'readSummaries'>
}

/** What a client asks for. `executions`: instead of those that the other members select. */
export type TrialRequest = TrialSettings & {
  limit: number | null
  executions: string[] | null
  maxTrialCostUsd: number | null
  maxConcurrency: number | undefined
}

type Call = {
  access: Access
  idOrSlug: string
  versionId: string
  request: TrialRequest
  idempotencyKey: string | undefined
}

/**
 * Records a trial, a batch that repeats executions on a version, and has its first lines started; or returns the one
 * that an earlier request with the same idempotency key has recorded.
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired, IdempotencyKeyReused, InputSchemaMismatch,
 * Unavailable
 */
export async function startTrial(
  stores: Stores,
  { access, idOrSlug, versionId, request, idempotencyKey }: Call,
): Promise<Batch> {
  const { agents, webhooks, system } = stores
  const { limit, executions, maxTrialCostUsd, maxConcurrency, ...trial } = request
  const version = parseVersionId(versionId)
  const chosen = { access, idOrSlug, overrides: { version } }
  const target = await resolveTarget({ agents, webhooks, system, ...chosen })
  const key = idempotencyKeyOf(access, idempotencyKey)
  if (target.refusal && key === undefined) throw target.refusal
  const { agentId } = target.version
  const { organizationId } = access
  const tried = await agents.get({ organizationId, id: agentId })
  const scorers = scorersOf(tried?.current ?? null, target.version)
  await checkRequest(target.version, request, await findModelScorers(agents, organizationId, scorers))
  const hasModel = kindOf(target.version) === 'model'
  const teachers = teachersOf(target.version)
  const agent = { organizationId, agentId, hasModel, teachers }
  const overrides = {
    version,
    ...(maxTrialCostUsd !== null && { maxBatchCostUsd: maxTrialCostUsd }),
    ...(maxConcurrency !== undefined && { maxConcurrency }),
  }
  return startBatch(
    stores,
    { ...target, access, overrides, key },
    {
      trial: { ...trial, ...(scorers.length > 0 && { scorers }) },
      identity: request,
      async readLines() {
        const { ids, isCut } = executions
          ? { ids: await checkOriginals(stores, agent, executions), isCut: false }
          : await selectOriginals(stores, agent, { ...trial, limit: limit ?? TRIAL_RUNS.default })
        return { lines: ids.map((customId) => ({ customId, input: {} })), isCut }
      },
    },
  )
}

/** The versions of scorers that may call models. One that does not exist leaves no scores. */
async function findModelScorers(
  agents: AcceptStores['agents'],
  organizationId: string,
  scorers: TrialScorer[],
): Promise<Version[]> {
  const ids = scorers.map(({ agent }) => agentIdOf(organizationId, agent))
  const found = await Promise.all(ids.map((id) => agents.get({ organizationId, id })))
  return found.flatMap((agent) => (agent?.current && kindOf(agent.current) !== 'code' ? agent.current : []))
}

/** @param scorers that may call models @throws InputSchemaMismatch */
async function checkRequest(version: Version, request: TrialRequest, scorers: Version[]): Promise<void> {
  const violations = [...checkSelection(request), ...checkTools(version, request)]
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  const { maxTrialCostUsd, models } = request
  // Only a request that differs from the recording needs a limit, and a model with a price.
  const isPaid = kindOf(version) === 'model' && models === 'live'
  const [scorer] = scorers
  if (maxTrialCostUsd === null) {
    if (isPaid) throw invalid('maxTrialCostUsd', 'is required, because the trial calls models')
    if (scorer)
      throw invalid('maxTrialCostUsd', `is required, because the scorer ${scorer.slug} may call a model`)
    return
  }
  const isLimited = isPaid || (kindOf(version) !== 'model' && !scorer)
  for (const each of [...(isLimited ? [version] : []), ...scorers])
    await checkCostLimit(each, {}, 'maxTrialCostUsd').catch((error: unknown) => {
      if (!(error instanceof InvalidQueryParameter)) throw error
      throw new InputSchemaMismatch([{ path: '/maxTrialCostUsd', message: error.message }])
    })
}

const invalid = (name: string, predicate: string) => new InputSchemaMismatch([violation([name], predicate)])

function violation(names: string[], predicate: string): Violation {
  const path = toJsonPointer(names)
  return { path, message: `${path} ${predicate}.` }
}

function checkSelection({ from, to, tenantId, feedback, limit, executions }: TrialRequest): Violation[] {
  if (executions && [from, to, tenantId, feedback, limit].some((value) => value !== null))
    return [violation(['executions'], 'cannot be combined with from, to, tenantId, feedback and limit')]
  const isEmpty = from !== null && to !== null && Date.parse(from) >= Date.parse(to)
  return isEmpty ? [violation(['from'], 'must be before to')] : []
}

/** Names that are not those of tools of the version. */
export function checkToolNames({ tools }: Version, { tools: sources }: ReplaySettings): Violation[] {
  const known = (tools as ToolDocument[]).map(({ name }) => name)
  return Object.keys(sources)
    .filter((name) => name !== 'default' && !known.includes(name))
    .map((name) => violation(['tools', name], `is not a tool of the version. ${listOf(known)}`))
}

/** Nothing that changes something is called: what a document says about its tools, or a remote agent, decides. */
function checkTools(version: Version, settings: ReplaySettings): Violation[] {
  const { slug, tools, remote } = version
  const { tools: sources } = settings
  const isRefused = remote && !remote.readOnly && settings.steps === 'live'
  const refusal = `must be "recorded": the document of ${slug} does not say remote.readOnly: true`
  return [
    ...(isRefused ? [violation(['steps'], refusal)] : []),
    ...checkToolNames(version, settings),
    ...(tools as ToolDocument[]).flatMap(({ name, agent, readOnly }) => {
      // Agents are recorded, whatever the default is.
      const isNamed = Object.hasOwn(sources, name)
      if ((agent && !isNamed) || sourceOf(sources, name) !== 'live') return []
      const path = ['tools', isNamed ? name : 'default']
      if (agent) return [violation(path, 'must be "recorded", because agents that are called do not run')]
      if (readOnly) return []
      const reason = `the document of ${slug} does not mark the tool ${name} with readOnly: true`
      return [violation(path, `must be "recorded": ${reason}`)]
    }),
  ]
}

const listOf = (names: string[]) => (names.length > 0 ? `Its tools: ${names.join(', ')}` : 'It has no tools')
