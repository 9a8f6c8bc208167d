import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import type { ExecutionSummaryRecord as Run } from '../../lib/contract/records/execution.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { ApiError, asApiError } from '../api/api-error.ts'
import { type Page, requestJson, requestPage } from '../api/request.ts'
import { formatCountOf, formatTime, shortId } from '../components/format.ts'
import { type Query, toHref, toPath } from '../state/location.ts'
import { readsAllTenants } from '../state/session.ts'
import { type Item, type PastedId, timeOfId } from './find.ts'

type Agents = ReadonlyMap<string, AgentRecord>
type Context = { id: PastedId; agents: Agents; signal: AbortSignal }

/** Where an ID is looked for. `find`: null if it is not there. */
type Lookup = {
  plural: string
  mayRead: (me: MeRecord) => boolean
  find: (context: Context) => Promise<Item | null>
}

const reads = ({ scopes }: MeRecord) => scopes.includes('read')

const agentName = (agents: Agents, id: string) => agents.get(id)?.title ?? shortId(id)

/** Things whose ID is the address of their record. */
const lookup = <T>(
  plural: string,
  mayRead: Lookup['mayRead'],
  toItem: (record: T, context: Context) => Item,
): Lookup => ({
  ...{ plural, mayRead },
  find: async (context) =>
    toItem(await requestJson<T>(`/v1/${plural}/${context.id.uuid}`, { signal: context.signal }), context),
})

const toWork =
  (kind: 'Batch' | 'Trial', section: string, noun: string) =>
  ({ id, status, lines, documentId }: BatchRecord | TrialRecord, { agents }: Context): Item => ({
    kind,
    title: shortId(id),
    detail: `${agentName(agents, documentId)}, ${formatCountOf(lines, noun)}, ${STATES[status]}`,
    href: toHref(toPath(section, id)),
  })

const STATES = { IN_PROGRESS: 'in progress', CANCELLING: 'being cancelled', ENDED: 'ended' }
const STATUSES = { IN_PROGRESS: 'in progress', SUCCESS: 'success', ERROR: 'error' }

const LOOKUPS: Lookup[] = [
  { plural: 'runs', mayRead: reads, find: findRun },
  lookup('agents', reads, ({ title, slug, archivedAt }: AgentRecord) => ({
    ...{ kind: 'Agent', title, href: toHref(toPath('agents', slug)) },
    detail: archivedAt === null ? slug : `${slug}, archived`,
  })),
  lookup('batches', reads, toWork('Batch', 'batches', 'line')),
  lookup('trials', readsAllTenants, toWork('Trial', 'trials', 'run')),
  lookup('webhooks', readsAllTenants, ({ id, url }: WebhookRecord) => ({
    ...{ kind: 'Webhook', title: url, href: toHref(toPath('webhooks', id)) },
  })),
]

const APPROVALS: Lookup = {
  plural: 'open approvals',
  mayRead: (me) => reads(me) || me.scopes.includes('approve'),
  find: async ({ id, signal }) => {
    const { items } = await requestPage<ApprovalRecord>('/v1/approvals', { query: { limit: 100 }, signal })
    const found = items.find((approval) => approval.id === id.hex)
    if (!found) return null
    const href = toHref('/approvals', { item: `${found.executionId}.${found.id}` })
    return { kind: 'Approval', title: found.title, detail: found.name, href }
  },
}

const AT_ONCE = 5
const TYPING_MS = 250

/** The newest runs with a key that begins with the text: an index has them. Waits until one has typed. */
export async function findByKey(
  text: string,
  { names, agents, signal }: { names: string[]; agents: Agents; signal: AbortSignal },
): Promise<Item[]> {
  await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
  if (signal.aborted) return []
  const [, named = '', value = ''] = /^([^:]*):(.+)$/s.exec(text) ?? []
  const searched = names.includes(named) ? { names: [named], value } : { names, value: text }
  const found = searched.names.map(async (name): Promise<Item[]> => {
    const key = `${name}:${searched.value}*`
    const query = { key, fields: 'summary', limit: AT_ONCE }
    const { items, next } = await requestPage<Run>('/v1/agent_executions', { query, signal })
    const all = { kind: 'Runs', title: key, detail: 'All runs with this key', href: toHref('/runs', { key }) }
    const runs = items.map((run) => toRunItem(run, agents, `${name} ${run.keys?.[name]}`))
    return next ? [...runs, all] : runs
  })
  return (await Promise.all(found)).flat()
}

function toRunItem(run: Run, agents: Agents, title: string): Item {
  const status = run.status === 'ERROR' ? (run.error?.code ?? STATUSES.ERROR) : STATUSES[run.status]
  const tenant = run.tenantId === null ? [] : [run.tenantId]
  const detail = [agentName(agents, run.documentId), ...tenant, status, formatTime(run.createdAt)].join(', ')
  return { kind: 'Run', title, detail, href: toHref(toPath('runs', run.id)) }
}

/** A list of the millisecond in which it was created: the run itself may have megabytes. */
async function findRun({ id, agents, signal }: Context): Promise<Item | null> {
  const time = timeOfId(id.uuid)
  if (time === null) return null
  const [from, to] = [time, time + 1].map((each) => new Date(each).toISOString())
  let query: Query | URLSearchParams | null = { from, to, fields: 'summary', limit: 100 }
  while (query) {
    const page: Page<Run> = await requestPage('/v1/agent_executions', { query, signal })
    const run = page.items.find((each) => each.id === id.uuid)
    if (run) return toRunItem(run, agents, shortId(run.id))
    query = page.next
  }
  return null
}

/** Requests for a version: only its agent knows it. */
const MAX_AGENTS = 48
const AT_A_TIME = 6

async function findVersion({ id, agents, signal }: Context): Promise<Item | null> {
  if (timeOfId(id.uuid) === null) return null
  const all = [...agents.values()]
  const named = all.find(({ currentVersionId, draftVersionId }) =>
    [currentVersionId, draftVersionId].includes(id.uuid),
  )
  if (named) return toVersionItem(named, id.uuid, named.draftVersionId === id.uuid ? 'draft' : 'current')
  for (let start = 0; start < Math.min(all.length, MAX_AGENTS); start += AT_A_TIME) {
    const found = await Promise.all(
      all.slice(start, Math.min(start + AT_A_TIME, MAX_AGENTS)).map(async (agent) => {
        const path = `/v1/agents/${agent.id}/versions/${id.uuid}`
        const version = await requestJson<VersionDetails>(path, { signal }).catch(ignoreMissing)
        return version && toVersionItem(agent, id.uuid, formatTime(version.createdAt))
      }),
    )
    const item = found.find((each) => each !== null)
    if (item) return item
  }
  return null
}

const toVersionItem = (agent: AgentRecord, versionId: string, detail: string): Item => ({
  kind: 'Version',
  title: `${agent.title} ${shortId(versionId)}`,
  detail,
  href: toHref(toPath('agents', agent.slug, 'versions', versionId)),
})

/** What is not there, or not for this token. */
function ignoreMissing(error: unknown): null {
  if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null
  throw error
}

export type LookedUp = {
  items: Item[]
  places: string[]
  /** Where that failed, and why. */
  failed: { plural: string; error: ApiError }[]
}

/** Looks for an ID wherever the token may read, at the same time; among versions only if it is nothing else. */
export async function lookUp(
  id: PastedId,
  { me, agents, signal }: { me: MeRecord; agents: Agents; signal: AbortSignal },
): Promise<LookedUp> {
  const context = { id, agents, signal }
  const first = await runLookups(id.hex === null ? LOOKUPS : [...LOOKUPS, APPROVALS], me, context)
  if (first.items.length > 0) return first
  const plural = agents.size > MAX_AGENTS ? `the versions of ${MAX_AGENTS} agents` : 'versions'
  const second = await runLookups([{ plural, mayRead: reads, find: findVersion }], me, context)
  const [places, failed] = [first.places.concat(second.places), first.failed.concat(second.failed)]
  return { items: second.items, places, failed }
}

async function runLookups(lookups: Lookup[], me: MeRecord, context: Context): Promise<LookedUp> {
  const result: LookedUp = { items: [], places: [], failed: [] }
  await Promise.all(
    lookups
      .filter(({ mayRead }) => mayRead(me))
      .map(async ({ plural, find }) => {
        try {
          const item = await find(context).catch(ignoreMissing)
          if (item) result.items.push(item)
          result.places.push(plural)
        } catch (error) {
          result.failed.push({ plural, error: asApiError(error) })
        }
      }),
  )
  return result
}
