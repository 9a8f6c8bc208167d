import { useEffect } from 'preact/hooks'
import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import { shortId } from '../components/format.ts'
import type { Query } from '../state/location.ts'
import { credentials } from '../state/session.ts'
import { createStore, type Store, useStore } from '../state/store.ts'
import { ApiError, nullIf } from './api-error.ts'
import { requestJson, requestPage, requestPages } from './request.ts'

/** All agents by id. Executions name theirs by id only. Null until they are loaded. */
const agents: Store<ReadonlyMap<string, AgentRecord> | null> = createStore(null)

let isRequested = false

credentials.subscribe(() => {
  agents.set(null)
  isRequested = false
})

/** Every agent that the token may see, loaded once. Null while they are being loaded, and if that failed. */
export function useAgents(): ReadonlyMap<string, AgentRecord> | null {
  useEffect(() => {
    if (isRequested) return
    isRequested = true
    loadAgents().catch(() => {
      isRequested = false
    })
  }, [])
  return useStore(agents)
}

/** Agents that the list does not have: archived ones, and those published since. Null: there is none. */
const others: Store<ReadonlyMap<string, AgentRecord | null>> = createStore(new Map())

const requested = new Set<string>()

credentials.subscribe(() => {
  others.set(new Map())
  requested.clear()
})

/** The agent with this id, once it is known. Each that is not in the list is loaded once. */
export function useAgent(agentId: string): AgentRecord | undefined {
  const [listed, unlisted] = [useAgents(), useStore(others)]
  const found = listed?.get(agentId) ?? unlisted.get(agentId) ?? undefined
  const isUnknown = listed !== null && !found
  useEffect(() => {
    if (isUnknown) void loadOther(agentId)
  }, [agentId, isUnknown])
  return found
}

async function loadOther(agentId: string): Promise<void> {
  if (requested.has(agentId)) return
  requested.add(agentId)
  const token = credentials.get().token
  const agent = await requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(agentId)}`).catch(
    (error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) requested.delete(agentId)
      return null
    },
  )
  if (credentials.get().token === token) others.set(new Map([...others.get(), [agentId, agent]]))
}

async function loadAgents(): Promise<void> {
  const token = credentials.get().token
  // Organizations with more agents see the ids of the others.
  const { items } = await requestPages<AgentRecord>('/v1/agents', { query: { limit: 100 } })
  if (credentials.get().token === token) agents.set(new Map(items.map((agent) => [agent.id, agent])))
}

/** Numbers of versions by ID; null for versions of earlier releases. */
const numbers: Store<ReadonlyMap<string, number | null>> = createStore(new Map())
const asked = new Set<string>()

credentials.subscribe(() => {
  numbers.set(new Map())
  asked.clear()
})

/** The name of a version, such as `v3`; the short form of its ID until it is known, and without a number. */
export const nameOfVersion = ({ id, number }: { id: string; number?: number | null | undefined }): string =>
  number == null ? shortId(id) : `v${number}`

/** The same for a version of which only the ID is known. @param agent ID or slug; null: it may not be read */
export function useVersionName(agent: string | null, id: string): string {
  const number = useStore(numbers).get(id)
  useEffect(() => {
    if (agent !== null && number === undefined) void loadNumber(agent, id)
  }, [agent, id, number])
  return nameOfVersion({ id, number })
}

/** One request finds the numbers of the newest versions; older ones take one each. */
async function loadNumber(agent: string, id: string): Promise<void> {
  const keep = (versions: Pick<VersionRecord, 'id' | 'number'>[]) =>
    numbers.set(new Map([...numbers.get(), ...versions.map((each) => [each.id, each.number] as const)]))
  const token = credentials.get().token
  const load = async (key: string, read: () => Promise<VersionRecord[]>) => {
    if (asked.has(key)) return
    asked.add(key)
    const found = await read().catch(() => [])
    if (credentials.get().token === token) keep(found)
  }
  const path = `/v1/agents/${encodeURIComponent(agent)}/versions`
  await load(agent, async () => (await requestPage<VersionRecord>(path, { query: { limit: NEWEST } })).items)
  if (!asked.has(id)) await load(id, async () => [await requestJson<VersionRecord>(`${path}/${id}`)])
}

const NEWEST = 20

/** A version of an agent with its whole document. @throws ApiError */
export const getVersion = (
  agent: string,
  versionId: string,
  signal: AbortSignal,
  query?: Query,
): Promise<VersionDetails> =>
  requestJson(`/v1/agents/${encodeURIComponent(agent)}/versions/${encodeURIComponent(versionId)}`, {
    signal,
    query,
  })

/** A version with its agent. @throws ApiError */
export async function loadVersion(idOrSlug: string, versionId: string, signal: AbortSignal, query?: Query) {
  const [agent, version] = await Promise.all([
    requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(idOrSlug)}`, { signal }),
    getVersion(idOrSlug, versionId, signal, query),
  ])
  return { agent, version }
}

/** The same; null if it does not exist. @throws ApiError */
export const findVersion = (
  agent: string,
  versionId: string,
  signal: AbortSignal,
): Promise<VersionDetails | null> => getVersion(agent, versionId, signal).catch(nullIf(404))
