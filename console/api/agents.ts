import { useEffect } from 'preact/hooks'
import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { shortId } from '../components/format.ts'
import type { Query } from '../state/location.ts'
import { credentials, useMe } from '../state/session.ts'
import { createStore, type Store, useStore } from '../state/store.ts'
import { ApiError, nullIf } from './api-error.ts'
import { requestJson, requestPage, requestPages } from './request.ts'

type Known<T> = {
  values: Store<ReadonlyMap<string, T>>
  /** Adds what a request finds. It is made once, and again only if there was no answer. */
  ask: (key: string, read: () => Promise<(readonly [id: string, value: T])[]>) => Promise<void>
}

/** The cache keeps what is known by ID, until another token is used. */
function createKnown<T>(): Known<T> {
  const values: Known<T>['values'] = createStore(new Map())
  const asked = new Map<string, Promise<void>>()
  credentials.subscribe(() => {
    values.set(new Map())
    asked.clear()
  })
  async function add(key: string, read: Parameters<Known<T>['ask']>[1]) {
    const { token } = credentials.get()
    const found = await read().catch((error: unknown) => (isRefusal(error) ? [] : null))
    if (credentials.get().token !== token) return
    if (found) values.set(new Map([...values.get(), ...found]))
    else asked.delete(key)
  }
  function ask(key: string, read: Parameters<Known<T>['ask']>[1]) {
    const request = asked.get(key) ?? add(key, read)
    asked.set(key, request)
    return request
  }
  return { values, ask }
}

/** It is not there, or not for this token. */
const isRefusal = (error: unknown) => error instanceof ApiError && [403, 404].includes(error.status)

const lists = createKnown<ReadonlyMap<string, AgentRecord>>()
/** Agents that the list does not have: archived ones, and those published since. */
const others = createKnown<AgentRecord>()

/** Every agent that the token may see, by ID, loaded once. Null while they are being loaded, and if that failed. */
export function useAgents(): ReadonlyMap<string, AgentRecord> | null {
  useEffect(() => {
    void lists.ask('agents', async () => {
      // Organizations with more agents see the ids of the others.
      const { items } = await requestPages<AgentRecord>('/v1/agents', { query: { limit: 100 } })
      return [['agents', new Map(items.map((agent) => [agent.id, agent]))]]
    })
  }, [])
  return useStore(lists.values).get('agents') ?? null
}

/** The agent with this id, once it is known. Each that is not in the list is loaded once. */
export function useAgent(agentId: string): AgentRecord | undefined {
  const [listed, unlisted] = [useAgents(), useStore(others.values)]
  const found = listed?.get(agentId) ?? unlisted.get(agentId)
  const isUnknown = listed !== null && !found
  useEffect(() => {
    if (!isUnknown) return
    const path = `/v1/agents/${encodeURIComponent(agentId)}`
    void others.ask(agentId, async () => [[agentId, await requestJson<AgentRecord>(path)]])
  }, [agentId, isUnknown])
  return found
}

const tokens = createKnown<string>()

/** The name of a token, or of the person who uses the console; undefined if it is not known. */
export function useTokenName(id: string, isNeeded: boolean): string | undefined {
  const me = useMe()
  const known = useStore(tokens.values)
  const mayList = isNeeded && (me?.scopes.includes('manage') ?? false) && me?.tenantId === null
  useEffect(() => {
    if (!mayList) return
    void tokens.ask('tokens', async () => {
      const { items } = await requestPages<TokenRecord>('/v1/tokens', { query: { limit: 100 } })
      return items.map((each) => [each.id, each.name] as const)
    })
  }, [mayList])
  return known.get(id) ?? (id === me?.tokenId ? (me.subject ?? 'this token') : undefined)
}

/** The name of a version, such as `v3`; the short form of its ID until it is known, and without a number. */
export const nameOfVersion = ({ id, number }: { id: string; number?: number | null | undefined }): string =>
  number == null ? shortId(id) : `v${number}`

/** Numbers of versions; null for versions of earlier releases. */
const numbers = createKnown<number | null>()
const NEWEST = 20

/** The same for a version of which only the ID is known. @param agent ID or slug; null: it may not be read */
export function useVersionName(agent: string | null, id: string): string {
  const number = useStore(numbers.values).get(id)
  useEffect(() => {
    if (agent !== null && number === undefined) void askNumber(agent, id)
  }, [agent, id, number])
  return nameOfVersion({ id, number })
}

/** One request finds the numbers of the newest versions; older ones take one each. */
async function askNumber(agent: string, id: string): Promise<void> {
  const path = `/v1/agents/${encodeURIComponent(agent)}/versions`
  const toNumber = (version: VersionRecord) => [version.id, version.number ?? null] as const
  await numbers.ask(agent, async () =>
    (await requestPage<VersionRecord>(path, { query: { limit: NEWEST } })).items.map(toNumber),
  )
  if (numbers.values.get().has(id)) return
  await numbers.ask(id, async () => [toNumber(await requestJson<VersionRecord>(`${path}/${id}`))])
}

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
