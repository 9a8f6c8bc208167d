import type { AgentStore } from '../../../lib/core/ports/agents.ts'

/** The store, with a count of its reads of agents and of versions. */
export function countReads(store: AgentStore) {
  const reads = { get: 0, getVersion: 0 }
  const counting: AgentStore = {
    ...store,
    get: (params) => {
      reads.get++
      return store.get(params)
    },
    getVersion: (params) => {
      reads.getVersion++
      return store.getVersion(params)
    },
  }
  return { store: counting, reads }
}
