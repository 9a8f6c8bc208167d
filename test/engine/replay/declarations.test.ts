import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { DeclarationStore } from '../../../lib/core/ports/caches.ts'
import { keepDeclarations } from '../../../lib/engine/replay/declarations.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { serveMcp } from '../../tools/kinds/mcp-server.ts'

const { engine, runScript } = await startScriptedEngine()
const DAY = 86_400_000
const served = { crm: [{ name: 'crm_find', description: 'Finds.', inputSchema: { type: 'object' } }] }

/** A store that counts its writes, of which the first ones fail. */
function countingStore(failures = 0) {
  const puts: Parameters<DeclarationStore['put']>[0][] = []
  const store: DeclarationStore = {
    async put(params) {
      puts.push(params)
      if (puts.length <= failures) throw new Unavailable(new Error('not now'))
    },
    get: () => Promise.reject(new Error('A run reads no declarations.')),
  }
  const keep = (now: number, declarations = served, organizationId = 'org') =>
    keepDeclarations(
      { declarations: store, system: { ...engine.system, now: () => now } },
      organizationId,
      declarations,
    )
  return { puts, keep }
}

describe('keepDeclarations', () => {
  it('writes them once a day, for each organization and hash', async () => {
    const { puts, keep } = countingStore()
    const hashes = await Promise.all([keep(5 * DAY), keep(5 * DAY), keep(6 * DAY - 1)])
    expect(new Set(hashes).size).toBe(1)
    expect(puts).toHaveLength(1)
    await keep(6 * DAY)
    await keep(6 * DAY + 1)
    expect(puts).toHaveLength(2)
    await keep(6 * DAY, served, 'other')
    expect(await keep(6 * DAY, { crm: [] })).not.toBe(hashes[0])
    expect(puts).toHaveLength(4)
  })

  it('does not fail, and repeats a write that failed with the next run', async () => {
    const { puts, keep } = countingStore(1)
    const hash = await keep(DAY)
    expect(hash).toBe(await keep(DAY))
    expect(await keep(DAY)).toBe(hash)
    expect(puts).toHaveLength(2)
  })

  it('keeps nothing for a run without MCP tools', async () => {
    const unused = () => Promise.reject(new Error('There are none.'))
    const none = { declarations: { put: unused, get: unused }, system: engine.system }
    expect(await keepDeclarations(none, 'org', undefined)).toBeUndefined()
  })
})

describe('a run with MCP tools', () => {
  it('has the hash of their stored declarations in its requests', async () => {
    const server = await serveMcp()
    const mcp = { url: server.url, allowedHosts: [server.host] }
    const tools = [{ name: 'crm', approval: true, mcp }]
    const version = await aModelAgent({ tools })
    const { steps, execution } = await runScript([answer], { version })
    const [first] = steps
    const hash = first?.step.kind === 'MODEL' ? first.step.request?.declarations : undefined
    const { organizationId } = execution
    const stored = await engine.declarations.get({ organizationId, hash: String(hash) })
    expect(Object.keys(stored ?? {})).toEqual(['crm'])
    expect(stored?.crm?.map(({ name }) => name)).toContain('crm_find_customer')
    expect(stored?.crm?.[0]).not.toHaveProperty('approval')
  })
})
