import { useEffect } from 'preact/hooks'
import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import { credentials } from '../state/session.ts'
import { createStore, type Store, useStore } from '../state/store.ts'
import { ApiError, nullIf } from './api-error.ts'
import { requestJson, requestPages } from './request.ts'

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

/** A version of an agent with its whole document. @throws ApiError */
export const getVersion = (agent: string, versionId: string, signal: AbortSignal): Promise<VersionDetails> =>
  requestJson(`/v1/agents/${encodeURIComponent(agent)}/versions/${encodeURIComponent(versionId)}`, { signal })

/** The same; null if it does not exist. @throws ApiError */
export const findVersion = (
  agent: string,
  versionId: string,
  signal: AbortSignal,
): Promise<VersionDetails | null> => getVersion(agent, versionId, signal).catch(nullIf(404))
